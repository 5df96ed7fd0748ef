import { readConfig } from '../server/kernel/config/config.ts'
import type { Db } from '../server/kernel/db/database.ts'
import { formatOperatorTime, formatSize, pluralize } from '../server/kernel/errors/words.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import {
  storeBackup,
  storeVerification,
} from '../server/operations/backup/backup-state.repository.ts'
import { backupPath, createBackup } from '../server/operations/backup/create-backup.service.ts'
import type { RestoreResult } from '../server/operations/backup/restore.service.ts'
import { requireRestorable, restoreBackup } from '../server/operations/backup/restore.service.ts'
import { verifyBackup } from '../server/operations/backup/verify.service.ts'
import { callerFolder, resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import {
  readPostgresMajor,
  readSecret,
  requireSuitableDatabase,
} from '../server/operations/start/installation.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import type { BaseContext, Command, Context, ContextWithoutWall, Output } from './command.ts'
import { Refusal } from './command.ts'
import { ACCOUNTS } from './format.ts'
import { findDatabase, hasDatabase, openWall } from './open-wall.ts'
import { showProgress } from './progress.ts'
import { interruption, unlessInterrupted } from './terminal.ts'

const ROWS = { one: 'строка', few: 'строки', many: 'строк' }

export const backup: Command = {
  summary: 'копия стены одним файлом; сервер может работать',
  needs: 'wall',
  forms: { 'backup [ФАЙЛ|ПАПКА] [--without-secret]': backUp },
}

async function backUp(context: Context): Promise<Output> {
  const { db, wall, config, actor, options, isDryRun } = context
  const file = await backupPath(resolveFromCaller(context.words[0] ?? '.'))
  const secret = options['without-secret'] ? null : await readSecret(db, config)
  if (isDryRun) return { lines: [`Копия: ${file}`], json: { file } }
  const { bytes, manifest } = await createBackup(wall.url, file, {
    secret,
    ...progressOptions(context),
  })
  await storeBackup(db, { ...manifest, bytes })
  await appendToJournal(db, { actor, action: 'wall.backup' })
  const rows = manifest.parts.reduce((sum, part) => sum + part.rows, 0)
  return {
    lines: [`Копия: ${file} (${formatSize(bytes)}, ${pluralize(rows, ROWS)}).`],
    json: { file, bytes, rows, createdAt: manifest.createdAt, hasSecret: secret !== null },
  }
}

export const verify: Command = {
  summary:
    'проверяет копию: возвращает её во временную базу, сверяет суммы и счётчики, читает стену',
  needs: 'settings',
  forms: { 'verify ФАЙЛ': verifyFile },
  endsWhenInterrupted: true,
}

async function verifyFile(context: ContextWithoutWall): Promise<Output> {
  const [file = ''] = context.words.map(resolveFromCaller)
  const { dataDir, databaseUrl } = context.config
  const isEmbedded = databaseUrl === undefined
  const wallsMajor = isEmbedded
    ? undefined
    : await withWallDatabase(context, readPostgresMajor).catch(() => undefined)
  const verified = await verifyBackup(file, {
    dataDir,
    major: wallsMajor,
    ...progressOptions(context),
  })
  const { createdAt, version, migration } = verified.manifest
  const { posts, fingerprint, major } = verified
  const isNoted =
    !context.isDryRun && (await recordVerification(context, { createdAt, fingerprint }))
  return {
    lines: [
      `Копия верна: сделана ${formatOperatorTime(new Date(createdAt))}, записей на стене: ${posts}. Проверена в PostgreSQL ${major}.`,
      ...(isNoted ? ['Проверка последней копии отмечена: её покажут status и doctor.'] : []),
    ],
    json: { file, createdAt, version, migration, posts, postgres: major, isNoted },
  }
}

/** Returns whether the file is the last backup of the configured wall, which now records this. */
async function recordVerification(
  context: ContextWithoutWall,
  verification: Parameters<typeof storeVerification>[1],
): Promise<boolean> {
  try {
    if (!(await hasDatabase(context.config))) return false
    return await withWallDatabase(context, (db) => storeVerification(db, verification))
  } catch (error) {
    interruption.throwIfAborted()
    context.say(`Проверка не отмечена. ${explainStartFailure(error)}`)
    return false
  }
}

async function withWallDatabase<T>(
  { config, say }: ContextWithoutWall,
  work: (db: Db) => Promise<T>,
) {
  await using wall = await unlessInterrupted(openWall(config, say))
  return await work(wall.db)
}

export const restore: Command = {
  summary: 'возвращает копию в пустую стену; --replace заменяет ту, что есть',
  needs: 'nothing',
  forms: { 'restore ФАЙЛ [--replace]': restoreFile },
  endsWhenInterrupted: true,
}

async function restoreFile(context: BaseContext): Promise<Output> {
  const [file = ''] = context.words.map(resolveFromCaller)
  const { env, actor, say, isDryRun } = context
  // The backup brings its secret to a machine that has none.
  const config = readConfig(env, callerFolder, { mayLackSecret: true })
  if (!(await hasDatabase(config))) {
    // Checks the file first, because a refused file must not leave an empty database behind.
    const restorable = await requireRestorable(file, config, { signal: interruption })
    if (isDryRun) return restoreOutput(file, restorable, isDryRun)
  }
  const { url, stop } = await findDatabase(config, say, { mayCreate: true })
  if (config.databaseUrl !== undefined) await requireSuitableDatabase(url)
  const requireReplaceable = async () => {
    if (!context.options.replace) {
      throw new Refusal('Здесь уже есть стена. Чтобы заменить её копией, добавьте --replace.')
    }
    await context.confirm('Заменить стену копией? Всё, что в ней есть сейчас, пропадёт.')
  }
  const options = {
    actor,
    secretSource: config,
    requireReplaceable,
    isDryRun,
    ...progressOptions(context),
  }
  const restored = await restoreBackup(url, file, options).finally(stop)
  return restoreOutput(file, restored, isDryRun)
}

function restoreOutput(
  file: string,
  { manifest, secret, counts }: RestoreResult,
  isDryRun: boolean,
): Output {
  const { createdAt } = manifest
  const done = isDryRun ? 'Стену можно вернуть' : 'Стена возвращена'
  const lines = [`${done} из копии, сделанной ${formatOperatorTime(new Date(createdAt))}.`]
  if (secret === 'missing') {
    lines.push(
      'Секрета в копии нет: верните app-secret или запустите сервер с ACCEPT_NEW_SECRET=1: тогда все войдут снова.',
    )
  }
  if (counts) lines.push(...linesAfterRestore(counts))
  return { lines, json: { file, createdAt, secret, ...counts } }
}

function linesAfterRestore({
  deletedAgain,
  sessions,
  foreign,
}: NonNullable<RestoreResult['counts']>): string[] {
  const deleted =
    deletedAgain === null
      ? 'Списка удалённых аккаунтов (deletions.jsonl) нет ни рядом с копией, ни в DATA_DIR: кто удалил свой аккаунт после копии, снова на стене.'
      : `Удалены после копии и снова удалены: ${pluralize(deletedAgain, ACCOUNTS)}.`
  return [
    ...(deletedAgain === 0 ? [] : [deleted]),
    ...(sessions === 0 ? [] : [`Сессий вернулось: ${sessions}, и те, что закрыли после копии.`]),
    'Кто вошёл после копии, войдёт снова.',
    ...(foreign.length === 0
      ? []
      : [`Добавлены в базу не этой программой и не возвращены: ${foreign.join(', ')}.`]),
  ]
}

/** Returns options that show the progress and pass on an interruption. */
const progressOptions = ({ say }: BaseContext) => ({
  onProgress: showProgress(say),
  signal: interruption,
})
