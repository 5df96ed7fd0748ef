import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { type Config, nodeOriginOf } from '../../server/kernel/config/config.ts'
import { connectionReason } from '../../server/kernel/errors/why-failed.ts'
import { type Env, Refusal } from '../command.ts'

const USER = 'vslukh'
const VSLUKH = join(import.meta.dirname, '../../bin/vslukh')

type ProgramResult = { isDone: boolean; out: string; err: string }

const START_SECONDS = 90

/** The longest run of a program: longer than a stop of the server, a mail or the doctor takes. */
const LONGEST_MS = 120_000

type RunOptions = {
  env?: Env
  longestMs?: number
  signal?: AbortSignal
  /** Called with each line of standard error as it comes. */
  onErrorLine?: (line: string) => void
}

/** Runs a program, which is killed after `longestMs` or when `signal` aborts. Never rejects. */
export function run(
  program: string,
  args: string[],
  { env = process.env, longestMs = LONGEST_MS, signal, onErrorLine }: RunOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const killSignal: NodeJS.Signals = signal ? 'SIGTERM' : 'SIGKILL'
    const options = { env, cwd: '/', timeout: longestMs, killSignal, ...(signal && { signal }) }
    const child = execFile(program, args, options, (error, out, err) => {
      const late = `${program} ${args[0]} не закончил за ${longestMs / 1000} с`
      resolve({ isDone: !error, out, err: error?.killed ? late : err || (error?.message ?? '') })
    })
    if (onErrorLine && child.stderr) {
      createInterface({ input: child.stderr }).on('line', onErrorLine)
    }
  })
}

/** Runs a program as the wall's user, who must not type into root's terminal. Never rejects. */
export function runAsWall(command: string[], running?: RunOptions): Promise<ProgramResult> {
  // With `-c` runuser begins a session without a terminal. `-p` keeps the variables.
  const own = ['-p', '-s', '/bin/sh', '-c', 'exec "$@"', USER, '--', 'sh']
  return run('runuser', [...own, ...command], running)
}

/** Reads a file as the wall's user: root must not follow a link in that user's folder. */
export async function readAsWall(path: string): Promise<string> {
  const { isDone, out, err } = await runAsWall(['cat', '--', path])
  if (isDone) return out
  throw new Refusal(`${path}: ${err.trim()}`)
}

export async function hasProgram(name: string): Promise<boolean> {
  return (await run('/bin/sh', ['-c', `command -v ${name}`])).isDone
}

type PortHolder = { program: string; pid: string; uid: number }

/** Returns the program that listens on a TCP port. Only root sees the programs of other users. */
export async function portHolder(port: number): Promise<PortHolder | undefined> {
  const { out } = await run('ss', ['-Hltnpe', `sport = :${port}`])
  if (out === '') return undefined
  const [, program = '?', pid = '?'] = /\("([^"]*)",pid=(\d+)/.exec(out) ?? []
  const [, uid] = / uid:(\d+)/.exec(out) ?? []
  // `ss` leaves out the id of root.
  return { program, pid, uid: Number(uid ?? 0) }
}

export const holderName = (port: number, { program, pid }: PortHolder) =>
  `порт ${port} занят программой ${program} (PID ${pid})`

export const hasSystemd = () => existsSync('/run/systemd/system')

/** Returns the group id of the wall's user. Throws Refusal without root or without that user. */
export async function requireMachine(): Promise<number> {
  if (process.getuid?.() !== 0) {
    throw new Refusal('Настройка пишет в /etc и запускает службы. Нужен root: sudo vslukh setup …')
  }
  const { isDone, out } = await run('id', ['-g', USER])
  if (isDone) return Number(out)
  throw new Refusal(
    `Пользователя ${USER} нет: установите пакет, apt install ./vslukh_…_amd64.deb ` +
      '(или useradd --system vslukh: docs/operations.md, «By hand»).',
  )
}

/** Runs a command by bin/vslukh as the wall's user. Returns its JSON, or throws Refusal. */
export async function runVslukh<T>(actor: string, ...words: string[]): Promise<T> {
  const { PATH, LANG, TZ, NODE_EXTRA_CA_CERTS } = process.env
  const env = { PATH, LANG, TZ, NODE_EXTRA_CA_CERTS }
  return parseOutput(await run(VSLUKH, [...words, '--json', '--yes', '--as', actor], { env }))
}

/** Parses the `--json` output of a command. Throws Refusal with the command's error. */
export function parseOutput<T>({ out, err }: Pick<ProgramResult, 'out' | 'err'>): T {
  // A command that crashes prints no JSON.
  if (out === '') throw new Refusal(err.trim())
  const answer = JSON.parse(out)
  if ('error' in answer) throw new Refusal(String(answer.error))
  return answer
}

const EVERY_MS = 500

type Waiting = {
  seconds: number
  gaveUp: (reason: string) => Promise<boolean>
  /** Called once, if the first answer is not a 200. */
  onWait: () => void
}

/** Requests `url` until it answers 200. Returns the last failure after `seconds` or `gaveUp`. */
export async function awaitAnswer(
  url: string,
  { seconds, gaveUp, onWait }: Waiting,
): Promise<string | undefined> {
  const until = performance.now() + seconds * 1000
  for (let tries = 1; ; tries++) {
    const reason = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => (status === 200 ? undefined : `ответ ${status}`),
      ({ cause, message }) => (cause?.code ?? cause?.message ?? message) as string,
    )
    if (reason === undefined) return undefined
    if (performance.now() > until || (await gaveUp(reason))) return reason
    if (tries === 1) onWait()
    await setTimeout(EVERY_MS)
  }
}

/** Waits for the service. Returns undefined when it is ready, otherwise why it is not. */
export async function untilServiceReady(
  config: Pick<Config, 'host' | 'port'>,
  onWait: () => void,
): Promise<string | undefined> {
  // A server that keeps restarting will not become ready.
  const gaveUp = async () =>
    Number((await run('systemctl', ['show', '-P', 'NRestarts', 'vslukh'])).out) > 2
  const url = `${nodeOriginOf(config)}/readyz`
  const reason = await awaitAnswer(url, { seconds: START_SECONDS, gaveUp, onWait })
  return reason && (connectionReason(reason) ?? reason)
}
