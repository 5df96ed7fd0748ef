import { type ChildProcess, execFile } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runProgram } from '../../../operator/program.ts'
import { SECRET } from '../test-app.ts'

const ROOT = join(import.meta.dirname, '../../..')

type Result = { code: number; out: string; err: string }
type Command = {
  /** The folder of another installation of the product. */
  root?: string
  cwd?: string
  env: Record<string, string>
  args: string[]
}

/** The command gets only these variables. `ended` never rejects; its code is -1 after a signal. */
export function startCommand({ root = ROOT, cwd, env, args }: Command) {
  const { promise: ended, resolve } = Promise.withResolvers<Result>()
  const options = { cwd, env: { PATH: process.env.PATH ?? '', USER: 'masha', ...env } }
  const program = join(root, 'bin/vslukh')
  const child: ChildProcess = execFile(program, args, options, (error, out, err) => {
    const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0
    resolve({ code, out, err })
  })
  return { child, ended }
}

export function envOf({ databaseUrl }: { databaseUrl: string }) {
  return { DATABASE_URL: databaseUrl, APP_SECRET: SECRET }
}

/** Runs a command in this process, as the user masha. `input` is who can be asked. */
export async function runHere(
  env: Record<string, string>,
  args: string[],
  input?: Readable,
): Promise<Result> {
  const [out, err] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(out), text(err)])
  const environment = { USER: 'masha', ...env }
  const code = await runProgram(args, { env: environment, out, err, ...(input && { input }) })
  out.end()
  err.end()
  const [printedOut, printedErr] = await printed
  return { code, out: printedOut, err: printedErr }
}

export function runCommand(env: Record<string, string>, ...args: string[]): Promise<Result> {
  return startCommand({ env, args }).ended
}
