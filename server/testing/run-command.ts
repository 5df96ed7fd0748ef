import { execFile } from 'node:child_process'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../bin/vslukh')

export type Result = { code: number; out: string; err: string }

/** Runs a command of the operator with only these environment variables, as the user masha. Never rejects. */
export function runCommand(env: Record<string, string>, ...args: string[]): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const options = { env: { PATH: process.env.PATH ?? '', USER: 'masha', ...env } }
  execFile(PROGRAM, args, options, (error, out, err) => {
    const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0
    resolve({ code, out, err })
  })
  return promise
}
