import { withStartDatabase } from '../server/kernel/db/database.ts'
import { counted } from '../server/kernel/errors/words.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import type { Progress } from '../server/operations/backup/backup-file.ts'
import {
  storeBackup,
  storeVerification,
} from '../server/operations/backup/backup-state.repository.ts'
import { backupPath, createBackup } from '../server/operations/backup/create-backup.service.ts'
import type { Restored } from '../server/operations/backup/restore.service.ts'
import { requireRestorable, restoreBackup } from '../server/operations/backup/restore.service.ts'
import { verifyBackup } from '../server/operations/backup/verify.service.ts'
import { fromCaller } from '../server/operations/start/caller-folder.ts'
import {
  readPostgresMajor,
  readSecret,
  requirePostgresVersion,
} from '../server/operations/start/installation.ts'
import type { Command, Context, ContextWithoutWall, Output } from './command.ts'
import { Refusal, requireWords } from './command.ts'
import { ACCOUNTS, time } from './format.ts'
import { findDatabase, hasDatabase, openWall } from './open-wall.ts'
import { interruption } from './terminal.ts'

const ROWS = { one: 'строка', few: 'строки', many: 'строк' }

export const backup: Command = {
  usage: ['backup [ФАЙЛ|ПАПКА] [--without-secret]'],
  summary: 'копия стены одним файлом; сервер может работать',
  options: ['without-secret'],
  endsWhenInterrupted: true,
  async run(context: Context): Promise<Output> {
    requireWords(context, 0, 1)
    const { db, wall, config, actor, values, isDryRun } = context
    const file = await backupPath(fromCaller(context.words[0] ?? '.'))
    const secret = values['without-secret'] === true ? null : await readSecret(db, config)
    if (isDryRun) return { lines: [`Копия: ${file}`], json: { file } }
    const { bytes, manifest } = await createBackup(wall.url, file, {
      secret,
      onProgress: shown(),
      signal: interruption,
    })
    await storeBackup(db, { ...manifest, bytes })
    await appendToJournal(db, { actor, action: 'wall.backup' })
    const rows = manifest.parts.reduce((sum, part) => sum + part.rows, 0)
    const megabytes = (bytes / 1e6).toFixed(1)
    return {
      lines: [`Копия: ${file} (${megabytes} МБ, ${counted(rows, ROWS)}).`],
      json: { file, bytes, rows, createdAt: manifest.createdAt, hasSecret: secret !== null },
    }
  },
}

export const verify: Command = {
  usage: ['verify ФАЙЛ'],
  summary:
    'проверяет копию: возвращает её во временную базу, сверяет суммы и счётчики, читает стену',
  endsWhenInterrupted: true,
  async runWithoutWall(context: ContextWithoutWall): Promise<Output> {
    requireWords(context, 1)
    const [file = ''] = context.words.map(fromCaller)
    const verified = await verifyBackup(file, {
      major: await findMajor(context),
      onProgress: shown(),
      signal: interruption,
    })
    const { createdAt, version, migration } = verified.manifest
    const { posts, fingerprint, major } = verified
    const isNoted =
      !context.isDryRun && (await recordVerification(context, { createdAt, fingerprint }))
    return {
      lines: [
        `Копия верна: сделана ${time(new Date(createdAt))}, записей на стене: ${posts}. Проверена в PostgreSQL ${major}.`,
        ...(isNoted ? ['Проверка последней копии отмечена: её покажут status и doctor.'] : []),
      ],
      json: { file, createdAt, version, migration, posts, postgres: major, isNoted },
    }
  },
}

/** Returns undefined if the settings name no database that answers. */
async function findMajor({ config }: ContextWithoutWall): Promise<string | undefined> {
  const url = config.databaseDirectUrl ?? config.databaseUrl
  if (url === undefined) return undefined
  return withStartDatabase(url, ({ db }) => readPostgresMajor(db)).catch(() => undefined)
}

/** Records the verification in the configured wall if the file is its last backup. */
async function recordVerification(
  { config }: ContextWithoutWall,
  verified: Parameters<typeof storeVerification>[1],
): Promise<boolean> {
  try {
    const wall = await openWall(config, () => {})
    return await storeVerification(wall.db, verified).finally(wall.close)
  } catch {
    // The backup is valid even if this machine has no wall.
    return false
  }
}

export const restore: Command = {
  usage: ['restore ФАЙЛ [--replace]'],
  summary: 'возвращает копию в пустую стену; --replace заменяет ту, что есть',
  options: ['replace'],
  endsWhenInterrupted: true,
  async runWithoutWall(context: ContextWithoutWall): Promise<Output> {
    requireWords(context, 1)
    const [file = ''] = context.words.map(fromCaller)
    const { config, actor, say, isDryRun } = context
    if (!hasDatabase(config)) {
      // A refused file must not leave an empty database behind.
      const restorable = await requireRestorable(file, config)
      if (isDryRun) return restoredOutput(file, restorable, isDryRun)
    }
    const { url, stop } = await findDatabase(config, say, { mayCreate: true })
    if (config.databaseUrl !== undefined) await requirePostgresVersion(url)
    const mayReplace = async () => {
      if (context.values.replace !== true) {
        throw new Refusal('Здесь уже есть стена. Чтобы заменить её копией, добавьте --replace.')
      }
      await context.confirm('Заменить стену копией? Всё, что в ней есть сейчас, пропадёт.')
    }
    const options = {
      actor,
      known: config,
      mayReplace,
      isDryRun,
      onProgress: shown(),
      signal: interruption,
    }
    const restored = await restoreBackup(url, file, options).finally(stop)
    return restoredOutput(file, restored, isDryRun)
  },
}

function restoredOutput(
  file: string,
  { manifest, secret, returned }: Restored,
  isDryRun: boolean,
): Output {
  const { createdAt } = manifest
  const done = isDryRun ? 'Стену можно вернуть' : 'Стена возвращена'
  const lines = [`${done} из копии, сделанной ${time(new Date(createdAt))}.`]
  if (secret === 'missing') {
    lines.push(
      'Секрета в копии нет: верните app-secret или запустите сервер с ACCEPT_NEW_SECRET=1.',
    )
  }
  if (returned) lines.push(...returnedLines(returned))
  return { lines, json: { file, createdAt, secret, ...returned } }
}

function returnedLines({ deletedAgain, sessions }: NonNullable<Restored['returned']>): string[] {
  const deleted =
    deletedAgain === null
      ? 'Списка удалённых аккаунтов (deletions.jsonl) нет ни рядом с копией, ни в DATA_DIR: кто удалил свой аккаунт после копии, снова на стене.'
      : `Удалены после копии и снова удалены: ${counted(deletedAgain, ACCOUNTS)}.`
  return [
    ...(deletedAgain === 0 ? [] : [deleted]),
    ...(sessions === 0 ? [] : [`Сессий вернулось: ${sessions}, и те, что закрыли после копии.`]),
  ]
}

function shown(): Progress {
  if (!process.stderr.isTTY) return () => {}
  process.once('exit', () => process.stderr.write('\r\x1b[K'))
  return (table) => process.stderr.write(`\r\x1b[K${table}…`)
}
