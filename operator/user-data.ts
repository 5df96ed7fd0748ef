import { existsSync } from 'node:fs'
import { selectDeletionStates } from '../server/features/account-deletion/account-deletion.repository.ts'
import { eraseNow } from '../server/features/account-deletion/account-deletion.service.ts'
import {
  deletionFolders,
  noteDeletions,
} from '../server/features/account-deletion/deletion-list.service.ts'
import { exportData } from '../server/features/data-export/data-export.service.ts'
import type { Person } from '../server/features/moderation/people.repository.ts'
import { type Change, publishFromOutside } from '../server/kernel/cache/change-feed.ts'
import { deriveKey } from '../server/kernel/config/app-secret.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import { writeNewFile } from '../server/operations/backup/backup-folder.ts'
import { fromCaller } from '../server/operations/start/caller-folder.ts'
import { readSecret } from '../server/operations/start/installation.ts'
import { type Context, type Output, Refusal } from './command.ts'

/** Returns the key that hashes names and mailboxes. Throws StartError for a wrong secret. */
export async function nameKeyOf({ db, config }: Context): Promise<Buffer> {
  return deriveKey(await readSecret(db, config), 'usernames')
}

/** Writes everything that is stored about a person into a new file. Throws Refusal if it exists. */
export async function exportPerson(context: Context, { id, username }: Person): Promise<Output> {
  const file = fromCaller(context.words[1] ?? '')
  const { db, config, actor, isDryRun } = context
  if (existsSync(file)) throw new Refusal(`Файл ${file} уже есть.`)
  if (!isDryRun) {
    await writeNewFile(file, async (opened) =>
      opened.writeFile(await exportData(db, id, config.appName)),
    )
    await appendToJournal(db, { actor, action: 'user.export', userId: id })
  }
  return { lines: [`Данные пользователя ${username}: ${file}`], json: { id, file } }
}

export async function erasePerson(context: Context, person: Person): Promise<Output> {
  const { id, username, posts, replies, likes } = person
  await context.confirm(
    `Стереть аккаунт ${username} навсегда: записей ${posts}, ответов ${replies}? Вернуть его будет нельзя.`,
  )
  const { db, wall, actor, isDryRun } = context
  const publishChange = (change: Change) => publishFromOutside(wall.url, change)
  const nameKey = await nameKeyOf(context)
  const counts = { posts, replies, likes }
  if (isDryRun) {
    const line = `Было бы стёрто: записей ${posts}, ответов ${replies}, отметок «Нравится» ${likes}.`
    return { lines: [line], json: { id, ...counts } }
  }
  const lines = [`Аккаунт ${username} стёрт.`]
  const onFailure = (cause: unknown) =>
    lines.push(`Список удалённых аккаунтов не дополнен: ${(cause as Error).message}`)
  const folders = deletionFolders(context.config)
  const onMarked = async () =>
    noteDeletions(await selectDeletionStates(db, id), folders, { onFailure })
  await eraseNow(db, { userId: id, nameKey, actor, publishChange, onMarked })
  return { lines, json: { id, ...counts } }
}
