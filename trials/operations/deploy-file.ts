import { type ChildProcessByStdio, execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { endChild } from '../../server/testing/process/child-process.ts'
import { findProgram } from '../../server/testing/process/debian-package.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const run = promisify(execFile)

/** Finds a program, or installs its Debian package for root. */
export const programOf = (debianPackage: string, ...paths: string[]) =>
  findProgram(paths, debianPackage)

/** Runs a program. Never rejects. */
export const attempt = (file: string, args: string[], env?: NodeJS.ProcessEnv) =>
  run(file, args, { env }).then(
    ({ stdout: out, stderr: err }) => ({ code: 0, out, err }),
    ({ code, stdout: out, stderr: err }) => ({ code: Number(code), out, err }),
  )

/**
 * Copies a file of deploy/ into a folder, with the paths and addresses of a test. Returns its path.
 * Throws if one of those to replace is missing.
 */
export async function copyDeployFile(name: string, folder: string, places: [string, string][]) {
  let text = await readFile(join(ROOT, 'deploy', name), 'utf8')
  for (const [written, used] of places) {
    if (!text.includes(written)) throw new Error(`deploy/${name} does not contain ${written}`)
    text = text.replaceAll(written, used)
  }
  const path = join(folder, basename(name))
  await writeFile(path, text)
  return path
}

/** What a program on a terminal asks, and what is typed then. */
export type Dialog = [asked: RegExp, answer: string][]

type Talking = ChildProcessByStdio<Writable, Readable, Readable | null>

/** Answers the questions of a program that runs under `script`. Returns all that it prints. */
export async function talk(child: Talking, dialog: Dialog) {
  onTestFinished(() => endChild(child))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    printed += part
    const [next] = dialog
    if (!next?.[0].test(printed.slice(read))) return
    read = printed.length
    dialog.shift()
    child.stdin.write(`${next[1]}\r`)
  })
  let read = 0
  await once(child, 'close')
  expect(dialog).toEqual([])
  return printed
}
