import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../server/testing/database/backups.ts'
import { findProgram } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { attempt, ROOT } from '../operations/deploy-file.ts'

const BACKUP = join(ROOT, 'server/operations/backup/releases/1.0.0.fixture.backup')
/** Calls that a command makes of its own files alone. The first and the last of each are made to fail. */
const CALLS = ['fsync', 'fdatasync', 'rename', 'mkdir', 'unlink', 'rmdir', 'pwrite64']
/** Calls that a command makes of programs and libraries too, so that a file must be named. */
const CALLS_OF_A_FILE = ['openat', 'read', 'pread64']
/** Makes all calls fail, one after the other, with each of the errors. */
const EVERY = process.env.FAILING_CALLS === 'all'
const ERRORS = EVERY ? ['EIO', 'EDQUOT', 'ESTALE'] : ['EIO']
/** What only an unfinished piece of work is named. */
const UNFINISHED = /postgres\.new-|vslukh-verify-|\.[0-9a-f]{12}$|[0-9a-f]{4}-[0-9a-f]{12}$/

const strace = await findProgram(['/usr/bin/strace'], 'strace')

type Trial = {
  /** The folder that is on the failing disk. It exists only during one run. */
  disk: string
  /** A file that the command reads. */
  file?: string
  args: string[]
  env: Record<string, string>
  prepare?: () => Promise<void>
}

/** Fails the calls of a command on the files of a folder, one in each run. Returns how many failed. */
async function failEach(trial: Trial): Promise<number> {
  const { disk, file } = trial
  const groups = CALLS.map((calls) => ({ calls, path: disk, only: [] as string[] }))
  if (file) {
    const only = ['-P', file]
    groups.push(...CALLS_OF_A_FILE.map((calls) => ({ calls, path: file, only })))
  }
  let failed = 0
  for (const { calls, path, only } of groups) {
    const all = numbersOf((await run(trial, calls, only)).traced, path)
    const chosen = EVERY ? all : new Set([...all.slice(0, 1), ...all.slice(-1)])
    for (const number of chosen) {
      for (const error of ERRORS) {
        const inject = ['-e', `inject=${calls}:error=${error}:when=${number}`]
        const ran = await run(trial, calls, [...only, ...inject])
        const hit = ran.traced.split('\n').filter((line) => line.includes('INJECTED'))
        if (!hit.some((line) => line.includes(path))) continue
        failed++
        await judge(trial, `${calls} ${number} ${error}`, ran)
      }
    }
  }
  return failed
}

const commandOf = ({ args, env }: Trial) => ({
  command: [join(ROOT, 'bin/run-node'), '--', join(ROOT, 'operator/main.ts'), ...args],
  // One thread makes all calls of files, so that their order is the same in each run.
  env: { PATH: process.env.PATH ?? '', USER: 'masha', UV_THREADPOOL_SIZE: '1', ...env },
})

async function run(trial: Trial, calls: string, options: string[]) {
  const { disk, prepare = async () => {} } = trial
  const log = join(dirname(disk), 'strace')
  const { command, env } = commandOf(trial)
  await rm(disk, { recursive: true, force: true })
  await mkdir(disk)
  await prepare()
  const tracing = ['-f', '-y', '-s', '256', '-o', log, '-e', `trace=${calls}`, ...options]
  const { code, out, err } = await attempt(strace, [...tracing, ...command], env)
  return { code, said: out + err, traced: await readFile(log, 'utf8') }
}

type Ran = Awaited<ReturnType<typeof run>>

/** The command has ended with a sentence or elsewhere, has left nothing, and succeeds when repeated. */
async function judge(trial: Trial, name: string, { code, said }: Ran): Promise<void> {
  const names = await readdir(trial.disk, { recursive: true })
  const left = names.filter((path) => UNFINISHED.test(path))
  expect({ name, code, said, left }).toEqual({
    ...{ name, code: expect.toBeOneOf([0, 1]), left: [] },
    said: expect.not.stringMatching(/^ +at |^initdb|removing|^Error/m),
  })
  if (code === 1) expect(said, name).toMatch(/[а-яё]/i)
  const { command, env } = commandOf(trial)
  const again = await attempt(command[0] ?? '', command.slice(1), env)
  const isDone = again.code === 0 || (code === 0 && /уже есть/.test(again.err))
  expect(isDone, `${name}: ${said}${again.out}${again.err}`).toBe(true)
}

/** Returns which calls of a thread, counted from 1, concern files below a folder, or a file. */
function numbersOf(traced: string, path: string): number[] {
  const counts = new Map<string, number>()
  const found = new Set<number>()
  for (const line of traced.split('\n')) {
    const [, thread = ''] = /^(\d+) +\w+\(/.exec(line) ?? []
    if (thread === '') continue
    const number = (counts.get(thread) ?? 0) + 1
    counts.set(thread, number)
    if (line.includes(path)) found.add(number)
  }
  return [...found].sort((a, b) => a - b)
}

test('a backup on a failing disk ends with a sentence, leaves nothing, and succeeds when the disk works again', {
  timeout: 3_600_000,
}, async () => {
  const folder = await folderForTest()
  const disk = join(folder, 'disk')
  const env = { DATABASE_URL: await emptyDatabase(), DATA_DIR: join(folder, 'data') }
  expect(await runCommand(env, 'restore', BACKUP)).toMatchObject({ code: 0 })
  const args = ['backup', join(disk, 'x.backup')]
  expect(await failEach({ disk, env, args })).toBeGreaterThan(2)
})

test('a verification on a failing disk ends with a sentence or elsewhere, and leaves nothing', {
  timeout: 3_600_000,
}, async () => {
  const disk = join(await folderForTest(), 'disk')
  const file = join(disk, 'x.backup')
  const env = { DATA_DIR: join(disk, 'data') }
  const prepare = () => copyFile(BACKUP, file)
  expect(await failEach({ disk, env, prepare, file, args: ['verify', file] })).toBeGreaterThan(3)
  expect(existsSync(file)).toBe(true)
})

test('a restore on a failing disk ends with a sentence, and succeeds when the disk works again', {
  timeout: 3_600_000,
}, async () => {
  const disk = join(await folderForTest(), 'disk')
  const args = ['restore', BACKUP, '--replace', '--yes']
  expect(
    await failEach({ disk, file: BACKUP, env: { DATA_DIR: join(disk, 'data') }, args }),
  ).toBeGreaterThan(3)
})
