import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { readManifest, readPart } from '../../server/operations/backup/backup-file.ts'
import { DAY, HOUR } from './clock.ts'
import type { Person, Post } from './model.ts'
import { BOUNDS } from './retention.ts'
import { SCRAPER } from './strangers.ts'
import type { World } from './world.ts'
import { MARK } from './writing.ts'

/** Words by which a person or a text would be found: addresses, names, marks of texts. */
const TOKENS = /[\w.+-]+@[\w.-]+|[A-Za-z_]\w{4,31}|(?:\d{1,3}\.){3}\d{1,3}/g
const RETURN_DAYS = 14
/** By docs/privacy.md no backup has them. */
const NEVER_BACKED_UP = [
  ...[
    'codes',
    'redeemed_codes',
    'passkey_operations',
    'rate_limits',
    'mailed_networks',
    'outbox',
    'mail_refusals',
  ],
  'access_token_key',
]
/** By the same page these keep texts, and who decided, for good. */
const JOURNAL = 'journal'

type Secrets = Map<string, string>

/** Finds what must be gone, in tables, files and backups, and what may stand in no log. */
export class PrivacyJudge {
  readonly #world: World
  readonly #read = new Map<string, number>()
  readonly #searchedBackups = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  async judge(): Promise<{ late: number; searched: number }> {
    const late = await this.#judgeTimes()
    const { emails, texts } = this.#gone()
    await this.#judgeTables(emails, texts)
    await this.#judgeBackups()
    this.#judgeFiles()
    return { late, searched: emails.size + texts.size }
  }

  async #judgeTimes(): Promise<number> {
    const { wall, findings, slackHours } = this.#world
    let late = 0
    for (const { table, what, isLate } of BOUNDS) {
      const where = isLate(`interval '${slackHours} hours'`)
      const [row] = await wall.query(`SELECT count(*)::int AS n FROM ${table} WHERE ${where}`)
      const count = Number(row?.n)
      late += count
      if (count > 0) findings.add(`still there: ${what}`, { rows: count })
    }
    return late
  }

  /** Returns words about people who were erased, and marks of texts that were deleted, by `before`. */
  #gone(before = this.#world.clock.now()): { emails: Secrets; texts: Secrets } {
    const { model, slackHours } = this.#world
    const until = before - slackHours * HOUR
    const isErased = ({ isErased, deletedAt, isUnsure, returnsAt }: Person) => {
      if (deletedAt === undefined || isUnsure) return false
      if (isErased) return deletedAt < until
      return returnsAt === undefined && deletedAt < until - RETURN_DAYS * DAY
    }
    const isDeleted = ({ deletedAt, reporters, wasDecided, isUnsure, appeal }: Post) =>
      (deletedAt ?? until) < until && reporters.size === 0 && !wasDecided && !isUnsure && !appeal
    const erased = model.people.filter(isErased)
    const emails: Secrets = new Map()
    for (const person of erased)
      for (const word of wordsOf(person)) emails.set(word, `person ${person.n}`)
    const texts: Secrets = new Map()
    const gone = new Set(erased.map(({ n }) => n))
    for (const post of [...model.posts.values(), ...model.gone]) {
      if (!gone.has(post.owner) && !isDeleted(post)) continue
      for (const one of post.texts)
        for (const [mark] of one.matchAll(MARK)) texts.set(mark, post.id)
    }
    return { emails, texts }
  }

  async #judgeTables(emails: Secrets, texts: Secrets): Promise<void> {
    const { wall, findings } = this.#world
    const tables = await wall.query<{ name: string; table: string }>(`
      SELECT format('%I.%I', table_schema, table_name) AS name, table_name AS table
      FROM information_schema.tables WHERE table_type = 'BASE TABLE'
        AND table_schema NOT IN ('pg_catalog', 'information_schema')`)
    for (const { name, table } of tables) {
      // A mail that waits is kept for three days; what it says when is judged by its time.
      const where = table === 'outbox' ? `WHERE payload IS NULL` : ''
      const rows = await wall.query<{ row: string }>(
        `SELECT x::text AS row FROM ${name} x ${where}`,
      )
      const secrets = table === JOURNAL ? emails : new Map([...emails, ...texts])
      for (const { row } of rows) {
        const found = firstOf(row, secrets)
        if (found)
          findings.add(`${table} has what was erased`, { ...found, row: row.slice(0, 200) })
      }
    }
  }

  /** Searches each new backup for what was gone when it was made. */
  async #judgeBackups(): Promise<void> {
    const { wall, findings } = this.#world
    const files = readdirSync(wall.backups).filter((name) => name.endsWith('.backup'))
    for (const name of files.filter((one) => !this.#searchedBackups.has(one))) {
      this.#searchedBackups.add(name)
      const path = join(wall.backups, name)
      const { parts, createdAt } = await readManifest(path)
      const { emails, texts } = this.#gone(Date.parse(createdAt))
      const all = new Map([...emails, ...texts])
      for (const part of parts) {
        const { table } = part
        if (NEVER_BACKED_UP.includes(table)) findings.add(`a backup has the table ${table}`)
        const unpacked = new PassThrough()
        const [rows] = await Promise.all([
          text(unpacked),
          pipeline(...readPart(path, part), unpacked),
        ])
        const found = firstOf(rows, table === JOURNAL ? emails : all)
        if (found)
          findings.add(`a backup has what was erased before, in ${table}`, { name, ...found })
      }
    }
  }

  /** Nobody may be found in a log, or in the list of deletions. */
  #judgeFiles(): void {
    const { wall, model, findings } = this.#world
    const people: Secrets = new Map([[SCRAPER, 'the scraper']])
    for (const person of model.people) {
      for (const word of [...wordsOf(person), ...person.devices.map(({ ip }) => ip)]) {
        people.set(word, `person ${person.n}`)
      }
    }
    const files = [wall.data, wall.backups].map((folder) => join(folder, 'deletions.jsonl'))
    for (const path of [wall.log, join(wall.data, 'postgres.log'), ...files]) {
      for (const line of this.#freshLines(path)) {
        const found =
          firstOf(line, people) ?? (/mark\d+z/.test(line) ? { word: 'a text' } : undefined)
        if (found)
          findings.add(`${path.split('/').at(-1)} names somebody`, {
            ...found,
            line: line.slice(0, 300),
          })
      }
    }
  }

  #freshLines(path: string): string[] {
    if (!existsSync(path)) return []
    const content = readFileSync(path, 'utf8')
    const before = this.#read.get(path) ?? 0
    this.#read.set(path, content.length)
    return content.slice(content.length < before ? 0 : before).split('\n')
  }
}

const wordsOf = ({ email, name, formerEmails, formerNames }: Person) =>
  [email, name, ...formerEmails, ...formerNames].flatMap((word) => word ?? [])

function firstOf(content: string, secrets: Secrets): { word: string; of: string } | undefined {
  if (secrets.size === 0) return undefined
  for (const [word] of content.matchAll(TOKENS)) {
    const of = secrets.get(word)
    if (of !== undefined) return { word, of }
  }
  return undefined
}
