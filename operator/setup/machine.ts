import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Env, Refusal } from '../command.ts'

const USER = 'vslukh'
const VSLUKH = join(import.meta.dirname, '../../bin/vslukh')

type Ran = { isDone: boolean; out: string; err: string }

export function run(program: string, args: string[], env: Env = process.env): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: '/' }, (error, out, err) =>
      resolve({ isDone: !error, out, err: err || (error?.message ?? '') }),
    )
  })
}

export async function hasProgram(name: string): Promise<boolean> {
  return (await run('/bin/sh', ['-c', `command -v ${name}`])).isDone
}

export const hasSystemd = () => existsSync('/run/systemd/system')

/** Returns the group of the wall's user. Throws Refusal where setup cannot do its work. */
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

/** Runs an operator's command, which bin/vslukh does as the wall's user. Returns its `--json`. */
export async function askWall<T>(actor: string, ...words: string[]): Promise<T> {
  const { PATH, LANG, TZ, NODE_EXTRA_CA_CERTS } = process.env
  const env = { PATH, LANG, TZ, NODE_EXTRA_CA_CERTS }
  const { out, err } = await run(VSLUKH, [...words, '--json', '--yes', '--as', actor], env)
  const answer = parse(out)
  if (answer === undefined) throw new Refusal(err.trim())
  if ('error' in answer) throw new Refusal(String(answer.error))
  return answer as T
}

function parse(json: string): object | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const EVERY_MS = 500

/** Waits for a 200. Returns why there was none within that time, or until `gaveUp`. */
export async function untilAnswers(
  url: string,
  { seconds, gaveUp }: { seconds: number; gaveUp: (reason: string) => Promise<boolean> },
): Promise<string | undefined> {
  const until = performance.now() + seconds * 1000
  for (;;) {
    const reason = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => (status === 200 ? undefined : `ответ ${status}`),
      ({ cause, message }) => (cause?.code ?? cause?.message ?? message) as string,
    )
    if (reason === undefined) return undefined
    if (performance.now() > until || (await gaveUp(reason))) return reason
    await setTimeout(EVERY_MS)
  }
}
