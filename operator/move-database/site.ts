import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../server/kernel/config/config.ts'
import { readIfExists } from '../../server/kernel/config/read-if-exists.ts'
import { removePath, replaceFile } from '../../server/kernel/config/replace-file.ts'
import { type ContextWithoutWall, Refusal } from '../command.ts'
import { progressEnv, relayProgress } from '../progress.ts'
import { movePasswordToEnv } from '../psql.ts'
import {
  hasSystemd,
  parseOutput,
  requireMachine,
  run,
  runAsWall,
  untilServiceReady,
} from '../setup/machine.ts'
import { readSettings, SETTINGS_FILE, withSettings, writeForWall } from '../setup/settings-file.ts'
import { interruption } from '../terminal.ts'

const ROOT = join(import.meta.dirname, '../..')
const RUN_NODE = join(ROOT, 'bin/run-node')
const ADMIN = join(ROOT, 'scripts/admin.ts')
const LONGEST_MS = 7 * 86_400_000

/** A move that has begun. A further attempt may replace the target database. */
export type StartedMove = { target: string; wasRunning: boolean }

/** The wall that is moved: a service with its settings in /etc, or a server started by hand. */
export class MovedWall {
  readonly isInstalled: boolean
  readonly #context: ContextWithoutWall
  readonly #marker: string

  constructor(context: ContextWithoutWall) {
    this.#context = context
    this.isInstalled = context.options['env-file'] === SETTINGS_FILE
    const folder = this.isInstalled ? '/opt/vslukh' : context.config.dataDir
    this.#marker = join(folder, '.move-database')
  }

  /** Runs another command as the wall's user, on the database at `url` or on the wall's own. */
  async runCommand<T>(url: string | undefined, ...words: string[]): Promise<T> {
    const { env, config, actor } = this.#context
    const variables = {
      ...env,
      ...progressEnv(),
      ...(this.isInstalled && { XDG_CACHE_HOME: '/var/cache/vslukh' }),
      // The paths are resolved, because the command runs in another folder.
      DATA_DIR: config.dataDir,
      BACKUP_DIR: config.backupDir,
      DATABASE_URL: url,
    }
    const onErrorLine = (line: string) => relayProgress(line, this.#context.say)
    const options = { env: variables, longestMs: LONGEST_MS, signal: interruption, onErrorLine }
    const args = ['--', ADMIN, ...words, '--json', '--yes', '--as', actor]
    const answer = parseOutput<T>(await this.#run(RUN_NODE, args, options))
    interruption.throwIfAborted()
    return answer
  }

  /** Removes a file whose path a command of the wall's user has printed. Root must not trust it. */
  async remove(path: string): Promise<void> {
    await this.#run('rm', ['--', path])
  }

  #run(program: string, args: string[], options?: Parameters<typeof run>[2]) {
    return this.isInstalled ? runAsWall([program, ...args], options) : run(program, args, options)
  }

  async readStartedMove(): Promise<StartedMove | undefined> {
    const text = await readIfExists(this.#marker)
    return text ? JSON.parse(text) : undefined
  }

  async writeStartedMove(begun: StartedMove): Promise<void> {
    await replaceFile(this.#marker, JSON.stringify(begun))
  }

  async end(): Promise<void> {
    await removePath(this.#marker)
  }

  async isRunning(): Promise<boolean> {
    if (!this.isInstalled || !hasSystemd()) return false
    return (await run('systemctl', ['is-active', '--quiet', 'vslukh'])).isDone
  }

  async stop(): Promise<void> {
    if (await this.isRunning()) await run('systemctl', ['stop', 'vslukh'])
    await this.requireStopped()
  }

  /** Throws Refusal if a server still works with the wall. */
  async requireStopped(): Promise<void> {
    const { nodes } = await this.runCommand<{ nodes: number }>(undefined, 'status')
    if (nodes > 0) throw new Refusal('Сервер работает: остановите его и повторите.')
  }

  /** Starts the service, and waits until it is ready. Throws Refusal if it is not. */
  async start(): Promise<void> {
    await run('systemctl', ['reset-failed', 'vslukh'])
    await run('systemctl', ['start', 'vslukh'])
    const onWait = () => this.#context.say('Ждём, пока сервер будет готов…')
    const reason = await untilServiceReady(this.#context.config, onWait)
    if (reason !== undefined) {
      throw new Refusal(`Сервер не готов (${reason}): journalctl -u vslukh -n 20.`)
    }
  }

  /** Throws UsageError or ConfigError for an address that the settings cannot contain. */
  async requireSettable(url: string): Promise<void> {
    const { env, config } = this.#context
    const { dataDir: DATA_DIR } = config
    if (!this.isInstalled) readConfig({ ...env, DATA_DIR, DATABASE_URL: url })
    else readSettings(await this.#textWith(url))
  }

  /** Sets DATABASE_URL in the settings file. Does nothing for a server started by hand. */
  async switchTo(url: string): Promise<void> {
    if (!this.isInstalled) return
    await writeForWall(SETTINGS_FILE, await this.#textWith(url), await requireMachine())
  }

  async #textWith(url: string): Promise<string> {
    return withSettings(await readFile(SETTINGS_FILE, 'utf8'), { DATABASE_URL: url })
  }
}

/** Returns a database address without its password, for messages. */
export const urlWithoutPassword = (url: string) =>
  movePasswordToEnv(url).address.replaceAll('%2F', '/')
