import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { LEFT_OUT } from '../../../server/operations/backup/tables.repository.ts'
import { startEmbeddedPostgres } from '../../../server/operations/embedded-postgres/embedded-postgres.ts'
import { withClient } from '../../../server/testing/backups.ts'
import { databaseForTest } from '../../../server/testing/database-for-test.ts'
import { folderForTest } from '../../../server/testing/folder-for-test.ts'
import { freePort } from '../../../server/testing/free-port.ts'
import { type Mailbox, openMailbox } from '../../../server/testing/mailbox.ts'
import { report } from '../../../server/testing/moderation-calls.ts'
import { runCommand } from '../../../server/testing/run-command.ts'
import { startMain } from '../../../server/testing/start-main.ts'
import { SECRET, startTestApp } from '../../../server/testing/test-app.ts'

/** Where the commands find the wall, and whether a server runs beside them. */
export const SETTINGS = [
  'the embedded database of a running server',
  'the embedded database of a stopped server',
  'a PostgreSQL of its own',
] as const
export type Setting = (typeof SETTINGS)[number]

const PEOPLE = ['olga', 'petr', 'vera', 'nina', 'rita', 'sonya', 'kira', 'lena'] as const
type Person = (typeof PEOPLE)[number]
const AUTHORS = {
  shown: 'olga',
  kept: 'olga',
  returned: 'olga',
  reported: 'lena',
  removed: 'lena',
  wave: 'kira',
  secondWave: 'kira',
} as const satisfies Record<string, Person>

export type Wall = Awaited<ReturnType<typeof seed>> & {
  folder: string
  env: Record<string, string>
  mailbox: Mailbox
  url: string
  /** Starts the embedded database of a stopped server for the statement. */
  query(statement: string): Promise<Record<string, unknown>[]>
  digest(): Promise<Record<string, unknown>[]>
  nodes(): number
  stop(): Promise<void>
}

/** `prepare` runs while the server runs, which then stops if the setting requires it. */
export async function openSeededWall(
  setting: Setting,
  prepare: (wall: Wall) => Promise<void>,
): Promise<Wall> {
  const folder = await folderForTest()
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const isEmbedded = setting !== 'a PostgreSQL of its own'
  const dataDir = join(folder, 'data')
  const env = {
    DATA_DIR: dataDir,
    APP_SECRET: SECRET,
    SMTP_URL: mailbox.url,
    PORT: String(await freePort()),
    ...(!isEmbedded && { DATABASE_URL: await databaseForTest() }),
  }
  const server = await startMain(env)
  expect(server.stderr).toBe('')
  let isRunning = true
  const { url } = JSON.parse((await runCommand(env, 'psql', '--json')).out)
  const query: Wall['query'] = async (statement) => {
    const own = { dataDir, say() {}, onLost() {} }
    const postgres = isEmbedded && !isRunning ? await startEmbeddedPostgres(own) : undefined
    const done = withClient(postgres?.connectionString ?? url, (client) => client.query(statement))
    return (await done.finally(() => postgres?.stop())).rows
  }
  const digest = `${(await query(TABLES)).map(digestOf).join(' UNION ALL ')} ORDER BY name`
  const wall: Wall = {
    ...(await seed(url, mailbox.url)),
    ...{ folder, env, mailbox, url, query },
    digest: () => query(digest),
    nodes: () => (isRunning ? 1 : 0),
    async stop() {
      await server.stop()
      isRunning = false
    },
  }
  await prepare(wall)
  const dueJobs = 'SELECT FROM graphile_worker._private_jobs WHERE run_at <= now()'
  await expect.poll(() => query(dueJobs)).toEqual([])
  if (setting === 'the embedded database of a stopped server') await wall.stop()
  return wall
}

const TABLES = `SELECT relname AS name FROM pg_class WHERE relkind = 'r'
  AND relnamespace = 'public'::regnamespace AND relname <> ALL('{${LEFT_OUT}}')`

const digestOf = ({ name }: Record<string, unknown>) =>
  `SELECT '${name}' AS name, md5(string_agg(t::text, ',' ORDER BY t::text)) AS sum FROM ${name} t`

/** Makes people and posts through a second node on the wall's database. */
async function seed(databaseUrl: string, smtpUrl: string) {
  const app = await startTestApp({ databaseUrl, config: { smtpUrl } })
  try {
    const people = await byName(PEOPLE, (name) => app.signIn(`${name}@example.org`))
    const names = Object.keys(AUTHORS) as (keyof typeof AUTHORS)[]
    const posts = await byName(names, (name) => app.publish(people[AUTHORS[name]], `Это ${name}`))
    for (const { id } of [posts.reported, posts.kept]) {
      await report(app, people.petr, { postId: id })
    }
    return { people, posts }
  } finally {
    await app.close()
  }
}

async function byName<Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => Promise<T>,
): Promise<Record<Name, T>> {
  const made: [Name, T][] = []
  for (const name of names) made.push([name, await make(name)])
  return Object.fromEntries(made) as Record<Name, T>
}
