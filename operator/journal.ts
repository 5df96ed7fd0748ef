import { formatOperatorTime } from '../server/kernel/errors/words.ts'
import {
  ACTS_MAX,
  appendToJournal,
  type JournalFilter,
  readAccesses,
  readJournal,
} from '../server/kernel/journal/journal.ts'
import type { Command, Context, Output } from './command.ts'
import { commit, listOutput, Refusal } from './command.ts'
import { indentLines, withDomainInUnicode } from './format.ts'
import { findPerson } from './people.ts'

export const journal: Command = {
  summary: 'кто, когда, что и почему; новое сверху; --access — адреса входов и записей людей',
  needs: 'wall',
  forms: { 'journal [--access] [--user КТО] [--post НОМЕР] [--since 7d]': read },
}

async function read(context: Context): Promise<Output> {
  const { post: postId, since: sinceSeconds } = context.options
  const filter = { userId: await idOf(context), postId, sinceSeconds }
  if (context.options.access) return accesses(context, filter)
  const acts = await readJournal(context.db, filter)
  return outputOf(acts, acts.flatMap(actLines))
}

/** Shows the addresses that ACCESS_JOURNAL_DAYS keeps, and records this reading in the journal. */
async function accesses(context: Context, filter: JournalFilter): Promise<Output> {
  const { actor, db } = context
  const read = await commit(context, async (tx) => {
    await appendToJournal(tx, { actor, action: 'access.read', ...filter })
    return readAccesses(db, filter)
  })
  // A dry run takes the record back, so it shows no address.
  if (context.isDryRun) return listOutput([], `Строк: ${read.length}.`, { accesses: read.length })
  return outputOf(read, read.map(accessLine))
}

function outputOf(acts: { at: Date }[], lines: string[]): Output {
  if (acts.length === 0) return { lines: ['В журнале ничего нет.'], json: acts }
  const oldest = acts.at(-1)
  const rest =
    acts.length < ACTS_MAX || !oldest
      ? []
      : [
          `… показаны последние ${ACTS_MAX}, с ${formatOperatorTime(oldest.at)}. Сузьте: --user, --post или --since.`,
        ]
  return { lines: [...lines, ...rest], json: acts }
}

async function idOf(context: Context): Promise<string | undefined> {
  const { user: words } = context.options
  if (words === undefined) return undefined
  const person = await findPerson(context, words)
  if (person) return person.id
  // Accepts an id without an account, because the journal keeps the ids of deleted accounts.
  if (/^\d{1,18}$/.test(words)) return words
  throw new Refusal(`Пользователя ${words} нет.`)
}

type Act = Awaited<ReturnType<typeof readJournal>>[number]
type Access = Awaited<ReturnType<typeof readAccesses>>[number]

/** Descriptions of actions by name. An action of another release is shown by its name. */
const ACTIONS: Record<string, string> = {
  'access.read': 'прочитаны адреса входов и записей',
  'ban.add': 'запрет регистрации',
  'ban.remove': 'запрет регистрации снят',
  'counters.mend': 'исправлены счётчики',
  'hiding.stop': 'жалобы больше не скрывают записи: за час их скрыто слишком много',
  invite: 'приглашение',
  'invite.revoke': 'приглашение отозвано',
  'moderator.add': 'назначен модератор',
  'moderator.remove': 'больше не модератор',
  'notice.clear': 'объявление снято',
  'notice.show': 'объявление',
  'post.hide': 'запись скрыта по жалобам',
  'post.keep': 'запись оставлена',
  'post.remove': 'запись удалена',
  'post.restore': 'запись возвращена',
  'post.unhide': 'запись возвращена: пожаловавшимся больше не верят',
  'registrations.close': 'регистрация закрыта',
  'registrations.invite-only': 'регистрация по приглашениям',
  'registrations.open': 'регистрация открыта',
  'wall.continue': 'стена не закроется',
  'wall.end': 'назначен день, когда стена закроется',
  'user.block': 'закрыта возможность писать',
  'user.email': 'сменена потерянная почта',
  'user.erase': 'аккаунт стёрт',
  'user.export': 'выгружены данные',
  'user.rename': 'имя изменено',
  'user.sign-out': 'завершены сессии',
  'user.unblock': 'возвращена возможность писать',
  'wall.backup': 'сделана копия',
  'wall.restore': 'стена возвращена из копии',
  'writing.close': 'запись на стену закрыта',
  'writing.open': 'запись на стену открыта',
}

const DETAILS: Record<string, (value: unknown, act: Act) => string | undefined> = {
  order: (value) => `Предписание: ${value}`,
  note: (value) => (value === null ? undefined : `Заметка: ${value}`),
  email: (value) => `Почта: ${value}`,
  value: (value) => `Значение: ${withDomainInUnicode(String(value))}`,
  days: (value) => (value === null ? 'Бессрочно' : `Дней: ${value}`),
  seconds: (value) => {
    if (value === null) return 'Бессрочно'
    const hours = Math.round(Number(value) / 36) / 100
    return hours % 24 === 0 ? `Дней: ${hours / 24}` : `Часов: ${hours}`
  },
  coversAll: (value) => (value === true ? 'Закрыто и чтение' : undefined),
  until: (value, { action }) => {
    if (typeof value === 'string') return `До ${formatOperatorTime(new Date(value))}`
    return action === 'user.block' ? 'Бессрочно' : undefined
  },
  uses: (value, { details }) =>
    `Приглашение ${details.id}, мест: ${value}${'usesLeft' in details ? `, осталось: ${details.usesLeft}` : ''}`,
  from: (value) => `Было: ${value}`,
  to: (value) => `Стало: ${value}`,
  reporters: (value) => `Пожаловались: ${value}`,
  createdAt: (value) => `Копия от ${formatOperatorTime(new Date(String(value)))}`,
  mended: (value) => `Исправлено: ${JSON.stringify(value)}`,
  text: (value) => `Текст: ${value}`,
}

export function actLines(act: Act): string[] {
  const { at, actor, action, post_id: postId, user_id: userId, reason, details } = act
  const about = [postId && `запись ${postId}`, userId && `человек ${userId}`].filter(Boolean)
  const what = [ACTIONS[action] ?? action, ...(about.length > 0 ? [`(${about.join(', ')})`] : [])]
  const more = Object.entries(DETAILS).flatMap(([name, word]) =>
    name in details ? (word(details[name], act) ?? []) : [],
  )
  return [
    `${formatOperatorTime(at)}  ${actor}  ${what.join(' ')}`,
    ...(reason ? indentLines(`Причина: ${reason}`) : []),
    ...more.flatMap(indentLines),
  ]
}

const ACCESSES: Record<string, string> = {
  register: 'регистрация',
  'sign-in': 'вход',
  publish: 'публикация',
  'delete-post': 'удаление записи',
  'delete-account': 'удаление аккаунта',
}

function accessLine({ at, action, address, port, user_id, post_id }: Access): string {
  const from = port === null ? address : `${address}, порт ${port}`
  const post = post_id === null ? '' : `, запись ${post_id}`
  return `${formatOperatorTime(at)}  ${ACCESSES[action] ?? action}: человек ${user_id}${post} — ${from}`
}
