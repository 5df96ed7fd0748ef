import { usernameProblem } from '../contract/account-rules.ts'
import { changeLostEmail, renameUser } from '../server/features/account/account.service.ts'
import { selectDeletionStates } from '../server/features/account-deletion/account-deletion.repository.ts'
import { eraseNow } from '../server/features/account-deletion/account-deletion.service.ts'
import {
  addToDeletionList,
  deletionFolders,
} from '../server/features/account-deletion/deletion-list.service.ts'
import { requireNewEmail } from '../server/features/codes/codes.service.ts'
import type { ExportedPost } from '../server/features/data-export/data-export.repository.ts'
import { selectOwnPosts } from '../server/features/data-export/data-export.repository.ts'
import { exportData } from '../server/features/data-export/data-export.service.ts'
import { blockUser, unblockUser } from '../server/features/moderation/blocks.service.ts'
import type { Person } from '../server/features/moderation/people.repository.ts'
import { removeAllClients } from '../server/features/sessions/known-clients.repository.ts'
import { closeSessions } from '../server/features/sessions/sessions.repository.ts'
import { deriveKey } from '../server/kernel/config/app-secret.ts'
import { isUniqueViolation } from '../server/kernel/db/database-errors.ts'
import { whyFailed } from '../server/kernel/errors/why-failed.ts'
import { formatOperatorTime } from '../server/kernel/errors/words.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import { refuseExisting, writeNewFile } from '../server/operations/backup/backup-folder.ts'
import { resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import { readSecret } from '../server/operations/start/installation.ts'
import type { Command, Context, Output } from './command.ts'
import { commitAndPublish, publishChange, Refusal, readEmail } from './command.ts'
import { ENTRIES_PER_PAGE, firstLine, untilText } from './format.ts'
import { requirePerson } from './people.ts'
import { readReason } from './reports.ts'

export const user: Command = {
  summary:
    'человек: показать со всем, что написано, закрыть или вернуть возможность писать, завершить сессии, переименовать, сменить потерянную почту, выгрузить данные, стереть',
  needs: 'wall',
  forms: {
    'user КТО [show] [--before НОМЕР]': withPerson(show),
    'user КТО block --reason ПРИЧИНА [--days ДНЕЙ]': withPerson(block),
    'user КТО unblock': withPerson(unblock),
    'user КТО sign-out': withPerson(signOut),
    'user КТО rename ИМЯ': withPerson(rename),
    'user КТО email НОВАЯ --reason ПРИЧИНА': withPerson(changeEmail),
    'user КТО export ФАЙЛ': withPerson(exportPerson),
    'user КТО erase': withPerson(erasePerson),
  },
}

function withPerson(act: (context: Context, person: Person) => Promise<Output>) {
  return async (context: Context) =>
    act(context, await requirePerson(context, context.words[0] ?? ''))
}

async function show(context: Context, person: Person): Promise<Output> {
  const { before } = context.options
  const page = { before: before ?? NEWEST, limit: ENTRIES_PER_PAGE + 1 }
  const written = await selectOwnPosts(context.db, person.id, page)
  const next = written.length > ENTRIES_PER_PAGE ? written.at(ENTRIES_PER_PAGE - 1)?.id : undefined
  const shown = written.slice(0, ENTRIES_PER_PAGE)
  const more = `… есть и старше. Дальше: vslukh user ${context.words[0]} --before ${next}`
  const lines = [
    ...(before === undefined ? [...factsOf(person), ''] : []),
    ...(shown.length > 0
      ? shown.map(postLine)
      : [before ? 'Старше ничего нет.' : 'Ничего не написано.']),
    ...(next === undefined ? [] : [more]),
  ]
  return { lines, json: { ...person, written: shown, next: next ?? null } }
}

/** An id that is greater than the id of any row. */
const NEWEST = '999999999999999999'

const HIDDEN: Record<string, string> = {
  removed: ', удалено модератором',
  hidden: ', скрыто из-за жалоб',
  deleted: ', удалено автором',
  left: ', скрыто вместе с аккаунтом',
}

function postLine({ id, publishedAt, repliedPostId, archived, text }: ExportedPost): string {
  const what = repliedPostId === null ? 'запись' : `ответ на ${repliedPostId}`
  const state = archived === null ? '' : (HIDDEN[archived] ?? '')
  return `${id}  ${formatOperatorTime(new Date(publishedAt))}, ${what}${state}: ${firstLine(text)}`
}

function factsOf(person: Person): string[] {
  const block =
    person.block_reason === null
      ? 'может писать'
      : `не может писать ${untilText(person.block_until)}: ${person.block_reason}`
  return [
    `${person.username} (${person.id}), ${person.email}${person.is_moderator ? ', модератор' : ''}${person.is_deleted ? ', аккаунт удалён' : ''}`,
    `С нами с ${formatOperatorTime(person.created_at)}, ${block}, последний визит ${formatOperatorTime(person.seen_at)}`,
    `Записей: ${person.posts}, ответов: ${person.replies}, отметок «Нравится»: ${person.likes}, сессий: ${person.sessions}, ключей доступа: ${person.passkeys}`,
    `Жалоб на записи: ${person.reported}, из них удалено: ${person.removed}, оставлено: ${person.kept}`,
    `Своих жалоб: ${person.reports}, отклонено: ${person.refused}`,
    `Непрочитанных ответов: ${person.unread_replies}, письма об ответах ${person.wants_reply_mails ? 'включены' : 'отключены'}`,
  ]
}

async function block(context: Context, { id, username }: Person): Promise<Output> {
  const reason = (await readReason(context)) ?? ''
  const { days = null } = context.options
  const by = context.actor
  await context.confirm(`Закрыть ${username} возможность писать? Все сессии завершатся.`)
  const until = await commitAndPublish(context, (tx) =>
    blockUser(tx, { userId: id, reason, days, by }),
  )
  const line = `${username} не может писать ${untilText(until)}. Сессии завершены.`
  return { lines: [line], json: { id, until } }
}

async function unblock(context: Context, { id, username }: Person): Promise<Output> {
  const unblocking = { userId: id, by: context.actor, nameKey: await nameKeyOf(context) }
  const wasBlocked = await commitAndPublish(context, (tx) => unblockUser(tx, unblocking))
  if (!wasBlocked) throw new Refusal(`${username} и так может писать.`)
  return { lines: [`${username} снова может писать.`], json: { id } }
}

async function signOut(context: Context, { id, username, sessions }: Person): Promise<Output> {
  await context.confirm(`Завершить все сессии пользователя ${username}?`)
  await commitAndPublish(context, async (tx) => {
    await closeSessions(tx, id, { reason: 'Сессию завершили те, кто ведёт эту стену' })
    await removeAllClients(tx, id)
    await appendToJournal(tx, { actor: context.actor, action: 'user.sign-out', userId: id })
  })
  return { lines: [`Сессий завершено: ${sessions}.`], json: { id, sessions } }
}

async function rename(context: Context, { id, username: from }: Person): Promise<Output> {
  const [, username = ''] = context.words
  if (usernameProblem(username)) {
    throw new Refusal(
      `«${username}» не годится: нужно от 5 до 32 латинских букв, цифр и знаков подчёркивания.`,
    )
  }
  const nameKey = await nameKeyOf(context)
  await commitAndPublish(context, async (tx) => {
    await renameUser(tx, { userId: id, username, nameKey, byOperator: true })
    const details = { from, to: username }
    await appendToJournal(tx, { actor: context.actor, action: 'user.rename', userId: id, details })
  }).catch((error) => {
    throw isUniqueViolation(error) ? new Refusal(`Имя ${username} уже занято.`) : error
  })
  return { lines: [`${from} теперь ${username}.`], json: { id, username } }
}

async function changeEmail(context: Context, { id, username, email: old }: Person) {
  const email = requireNewEmail(readEmail(context.words[1]))
  const reason = (await readReason(context)) ?? ''
  await context.confirm(
    `Привязать аккаунт ${username} к ${email} вместо ${old}? Все сессии завершатся, войти можно будет только с новой почты.`,
  )
  const change = { userId: id, email, reason, actor: context.actor }
  const until = await commitAndPublish(context, (tx) => changeLostEmail(tx, change)).catch(
    (error) => {
      throw isUniqueViolation(error) ? new Refusal(`Почта ${email} уже занята.`) : error
    },
  )
  const line = `Аккаунт ${username} теперь привязан к ${email}. Сессии завершены, письма уйдут на оба адреса; с прежнего это можно отменить ${untilText(until)}.`
  return { lines: [line], json: { id, email, undoableUntil: until } }
}

/** Returns the key that hashes names and mailboxes. Throws StartError for a wrong secret. */
async function nameKeyOf({ db, config }: Context): Promise<Buffer> {
  return deriveKey(await readSecret(db, config), 'usernames')
}

/** Writes everything that is stored about a person into a new file. Throws Refusal if it exists. */
async function exportPerson(context: Context, { id, username }: Person): Promise<Output> {
  const file = resolveFromCaller(context.words[1] ?? '')
  const { db, config, actor, isDryRun } = context
  await refuseExisting(file)
  if (!isDryRun) {
    await writeNewFile(file, async (append) => {
      for await (const chunk of await exportData(db, id, config.appName)) await append(chunk)
    })
    await appendToJournal(db, { actor, action: 'user.export', userId: id })
  }
  return { lines: [`Данные пользователя ${username}: ${file}`], json: { id, file } }
}

async function erasePerson(context: Context, person: Person): Promise<Output> {
  const { id, username, posts, replies, likes } = person
  await context.confirm(
    `Стереть аккаунт ${username} навсегда: записей ${posts}, ответов ${replies}? Вернуть его будет нельзя.`,
  )
  const { db, actor, isDryRun } = context
  const nameKey = await nameKeyOf(context)
  const counts = { posts, replies, likes }
  if (isDryRun) {
    const line = `Было бы стёрто: записей ${posts}, ответов ${replies}, отметок «Нравится» ${likes}.`
    return { lines: [line], json: { id, ...counts } }
  }
  const lines = [`Аккаунт ${username} стёрт.`]
  const onFailure = (cause: unknown) =>
    lines.push(`Список удалённых аккаунтов не дополнен: ${whyFailed(cause)}`)
  const folders = deletionFolders(context.config)
  const onMarked = async () =>
    addToDeletionList(await selectDeletionStates(db, id), folders, { onFailure })
  const publish = publishChange.bind(null, context)
  await eraseNow(db, { userId: id, nameKey, actor, publishChange: publish, onMarked })
  return { lines, json: { id, ...counts } }
}
