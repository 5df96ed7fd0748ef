import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createClient } from '../../server/testing/client.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { startMain } from '../../server/testing/start-main.ts'

const ROOT = join(import.meta.dirname, '../..')
export const EMAIL = 'olga@example.org'

type Result = { code: number; out: string; err: string }

/** Runs a command with only these environment variables. */
export function run(env: Record<string, string>, ...args: string[]): Promise<Result> {
  return runOf(ROOT, env, ...args)
}

/** Runs a command of the product that is installed in a folder. */
export function runOf(
  root: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const options = { env: { PATH: process.env.PATH ?? '', USER: 'masha', ...env } }
  execFile(join(root, 'bin/vslukh'), args, options, (error, out, err) => {
    resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err })
  })
  return promise
}

/** Makes a folder that the test removes. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-operations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the product and returns a client of it, which reads its mails. */
export async function startWall(env: Record<string, string>) {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const started = await startMain({ SMTP_URL: mailbox.url, MAIL_MODE: 'smtp', ...env })
  const url = /^Готово: (\S+)$/m.exec(started.stdout)?.[1]
  if (!url) throw new Error(`${started.stdout}${started.stderr}`)
  const codeFor = () => mailbox.codeFor(EMAIL)
  return { ...started, client: createClient(url, { check() {}, codeFor }) }
}
