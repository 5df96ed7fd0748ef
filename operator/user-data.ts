import { createWriteStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
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
import { errorCode } from '../server/kernel/db/database-errors.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import { nameFile, unfinishedPath } from '../server/operations/backup/backup-folder.ts'
import { fromCaller } from '../server/operations/start/caller-folder.ts'
import { readSecret } from '../server/operations/start/installation.ts'
import { type Context, type Output, Refusal } from './command.ts'

/** Throws StartError if the secret is not the wall's. */
export async function nameKeyOf({ db, config }: Context): Promise<Buffer> {
  return deriveKey(await readSecret(db, config), 'usernames')
}

/**
 * Writes everything that is stored about a person into a new file, which only its owner can read.
 * The file gets its name last, so that a failure leaves no file that looks whole.
 */
export async function exportPerson(context: Context, { id, username }: Person): Promise<Output> {
  const file = fromCaller(context.words[2] ?? '')
  const { db, config, actor, isDryRun } = context
  if (existsSync(file)) throw new Refusal(`Файл ${file} уже есть.`)
  if (!isDryRun) {
    await writeWhole(file, await exportData(db, id, config.appName))
    await appendToJournal(db, { actor, action: 'user.export', userId: id })
  }
  return { lines: [`Данные пользователя ${username}: ${file}`], json: { id, file } }
}

/** Throws Refusal if the file exists by now, or cannot be written. */
async function writeWhole(file: string, content: Readable): Promise<void> {
  const unfinished = unfinishedPath(file)
  try {
    await pipeline(content, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await nameFile(unfinished, file)
  } catch (error) {
    const reason = {
      EEXIST: `Файл ${file} уже есть.`,
      ENOENT: `Нет такого файла или папки: ${dirname(file)}`,
      EACCES: `Нет права писать в ${dirname(file)}`,
    }[errorCode(error)]
    throw reason ? new Refusal(reason, { cause: error }) : error
  } finally {
    await rm(unfinished, { force: true })
  }
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
