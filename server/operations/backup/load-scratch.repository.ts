import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { migrate, migrateTo } from '../../kernel/db/migrate.ts'
import { SCRATCH_SCHEMA } from '../../kernel/db/restore-lock.ts'
import { countRows, readPart } from './backup-file.ts'
import { BackupError, explainFileError } from './backup-folder.ts'
import type { Manifest, Part, Sequence } from './manifest.ts'
import type { Progress } from './progress.ts'
import { scratchUrl } from './scratch-schema.repository.ts'
import { copyInStatement, EXCLUDED_TABLES, selectTables, setSequence } from './tables.repository.ts'

const quote = pg.escapeIdentifier

type Backup = { path: string; manifest: Manifest }
type Loading = { backup: Backup; onProgress: Progress; signal?: AbortSignal | undefined }

/**
 * Loads a backup into a new scratch schema, and migrates that. Returns the tables and columns that
 * no version of the product has, and that are left out. Throws BackupError.
 */
export async function loadIntoScratch(
  client: pg.Client,
  url: string,
  { backup, onProgress, signal }: Loading,
): Promise<string[]> {
  const { parts, sequences, migration, leftOut = EXCLUDED_TABLES } = backup.manifest
  await client.query(
    `DROP SCHEMA IF EXISTS ${SCRATCH_SCHEMA} CASCADE; CREATE SCHEMA ${SCRATCH_SCHEMA}`,
  )
  await migrateTo(migration, scratchUrl(url), SCRATCH_SCHEMA)
  await client.query(`BEGIN; SET LOCAL search_path = ${SCRATCH_SCHEMA}`)
  const shapes = await selectTables(client)
  const tables = shapes.map(({ table }) => table)
  // CASCADE, because tables without a backup, which are empty here, refer to them.
  await client.query(`TRUNCATE ${tables.map(quote).join(', ')} CASCADE`)
  await setTriggers(client, tables, 'DISABLE')
  const total = parts.reduce((sum, { rows }) => sum + rows, 0)
  const foreign: string[] = []
  let before = 0
  for (const part of parts) {
    const shape = shapes.find(({ table }) => table === part.table)
    const others = part.columns.filter((column) => !shape?.columns.includes(column))
    foreign.push(...(shape ? others.map((column) => `${part.table}.${column}`) : [part.table]))
    if (!shape) continue
    const onRows = (rows: number) => onProgress('load', before + rows, total)
    // COPY reads all columns of its text: those of others are there while it runs.
    await alterColumns(client, part.table, others, (name) => `ADD COLUMN ${name} text`)
    await loadPart(client, part, { backup, signal, onRows })
    await alterColumns(client, part.table, others, (name) => `DROP COLUMN ${name}`)
    before += part.rows
  }
  const there = [...leftOut, ...parts.map(({ table }) => table)]
  const missing = tables.find((table) => !there.includes(table))
  if (missing !== undefined) throw new BackupError(`Копия неверна: в ней нет таблицы ${missing}.`)
  for (const sequence of sequences.filter(({ table }) => tables.includes(table))) {
    await explainWrongFile(sequence.table, setSequence(client, sequence))
  }
  await setTriggers(client, tables, 'ENABLE')
  await client.query('COMMIT; ANALYZE')
  await migrate(scratchUrl(url), { schema: SCRATCH_SCHEMA })
  return foreign
}

async function alterColumns(
  client: pg.Client,
  table: string,
  columns: string[],
  change: (column: string) => string,
): Promise<void> {
  if (columns.length === 0) return
  const changes = columns.map((column) => change(quote(column)))
  await client.query(`ALTER TABLE ${quote(table)} ${changes.join(', ')}`)
}

/** The tables whose ids stand in links, feeds and browsers. */
const PUBLIC_IDS = ['posts', 'users']

/** The most ids that a wall gives in a second, and the most that a restore leaves out. */
const IDS_PER_SECOND = 20
const IDS_LEFT_OUT_MAX = 100_000

/**
 * Raises the sequences of the loaded wall, so that no id is given again that was given after the
 * backup: past the ids of the wall that is replaced, and past all that the time since the backup
 * allows. The most keeps ids short and the newest blocks of the search full.
 */
export async function raiseIds(
  client: pg.Client,
  { former, createdAt }: { former: Sequence[]; createdAt: string },
): Promise<void> {
  const seconds = (Date.now() - Date.parse(createdAt)) / 1000
  const needed = Math.ceil(seconds * IDS_PER_SECOND)
  // A backup from the future says that one of the clocks is wrong.
  const leftOut = seconds < 0 ? IDS_LEFT_OUT_MAX : Math.min(needed, IDS_LEFT_OUT_MAX)
  for (const table of PUBLIC_IDS) {
    const last = former.find((sequence) => sequence.table === table)?.last ?? '1'
    await client.query(
      `SELECT setval(sequence, greatest(nextval(sequence) - 1 + $2, $3::bigint))
      FROM pg_get_serial_sequence($1, 'id') AS sequence`,
      [`${SCRATCH_SCHEMA}.${quote(table)}`, leftOut, last],
    )
  }
}

async function setTriggers(client: pg.Client, tables: string[], state: 'DISABLE' | 'ENABLE') {
  for (const table of tables) {
    await client.query(`ALTER TABLE ${quote(table)} ${state} TRIGGER USER`)
  }
}

async function loadPart(
  client: pg.Client,
  part: Part,
  { backup, signal, onRows }: Omit<Loading, 'onProgress'> & { onRows: (rows: number) => void },
): Promise<void> {
  const counted = countRows(onRows)
  const source = readPart(backup.path, part)
  const target = client.query(copyFrom(copyInStatement(part)))
  const steps = [...source, counted.through, target] as const
  const loading = pipeline(steps, { signal }).catch((cause) => {
    throw explainFileError(cause, `Файл ${backup.path} не прочитан`)
  })
  await explainWrongFile(part.table, loading)
  requireEqual(part, counted.result())
}

/** Matches SQLSTATE classes of wrong rows, columns and constraints, and codes of zstd errors. */
const WRONG = /^(22|23|42|Z)/

/** Throws BackupError for a wrong file. Its cause may quote the file, and must not be printed. */
function explainWrongFile(table: string, loading: Promise<void>): Promise<void> {
  return loading.catch((cause) => {
    if (!WRONG.test(errorCode(cause))) throw cause
    throw new BackupError(`Копия неверна: таблица ${table} не загружается.`, { cause })
  })
}

function requireEqual({ table, rows, sha256 }: Part, found: { rows: number; sha256: string }) {
  if (rows === found.rows && sha256 === found.sha256) return
  throw new BackupError(
    `Копия неверна: в таблице ${table} записано строк ${rows}, получилось ${found.rows}, суммы не сходятся.`,
  )
}
