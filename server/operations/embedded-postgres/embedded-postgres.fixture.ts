import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, onTestFinished } from 'vitest'
import { executeOn } from '../../testing/database/databases.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

type Message = { connectionString?: string; refused?: string }
type Child = { child: ChildProcess; message: Promise<Message> }

/** Makes a new folder for each test; what was started in it is stopped after the test. */
export class Folder {
  root = ''
  dataDir = ''

  constructor() {
    beforeEach(async () => {
      this.root = await folderForTest()
      this.dataDir = join(this.root, 'data')
    })
  }

  async start(dataDir = this.dataDir) {
    const lines: string[] = []
    const { promise: recovered, resolve } = Promise.withResolvers<void>()
    const say = (line: string) => {
      lines.push(line)
      if (line.includes('снова работает')) resolve()
    }
    const postgres = await startEmbeddedPostgres({ dataDir, say })
    onTestFinished(postgres.stop)
    return { ...postgres, lines, recovered }
  }

  /** Starts PostgreSQL from a process that can be killed; `message` resolves to the outcome. */
  startChild(env = process.env, ids: { uid?: number; gid?: number } = {}): Child {
    const script = join(import.meta.dirname, 'embedded-postgres-child.fixture.ts')
    const child = fork(script, [this.dataDir], { env, ...ids, execArgv: [] })
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      // A child that was refused may disconnect at this very moment, and then ends by itself.
      if (child.connected) child.send('stop', () => {})
      await exit
    })
    return { child, message: once(child, 'message').then(([message]) => message as Message) }
  }

  async pid(): Promise<number> {
    const text = await readFile(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    return Number.parseInt(text, 10)
  }
}

/** Runs one statement on a connection of its own and returns all cells of all rows. */
export async function query(connectionString: string, sql: string): Promise<unknown[]> {
  return (await executeOn(connectionString, sql)).flatMap(Object.values)
}
