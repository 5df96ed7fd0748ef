import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { findProgram } from '../../server/testing/process/debian-package.ts'
import { ROOT } from '../operations/deploy-file.ts'

const PAUSE = join(import.meta.dirname, 'wait-for-tracer.ts')
/** Every call that the disk below a file or folder can fail. */
const CALLS = (
  'open,openat,creat,read,pread64,readv,preadv,write,pwrite64,writev,pwritev,fsync,fdatasync,' +
  'mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,' +
  'truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,copy_file_range,sendfile,' +
  'stat,lstat,fstat,newfstatat,statx,statfs,access,faccessat,faccessat2,getdents64,readlink,utimensat'
).split(',')

/** The threads of a process that make calls of files: of `fs` and of `fs/promises`. */
export const THREADS = ['main', 'pool'] as const
type Thread = (typeof THREADS)[number]

/** The n-th system call of a name in a thread. */
export type Call = { thread: Thread; name: string; number: number; line: string }

/** What happens at a call: an error that it returns, or the end of the process before it. */
export type Fault = { call: Call; with: string }

export type Traced = {
  /** A script of this repository, and its words. */
  script: string
  args: string[]
  env: Record<string, string>
  /** Returns the words that run a program on another machine. */
  within?: (words: string[]) => string[]
  /** Ends a process that serves until it is told to end. */
  endAt?: RegExp
}

export type Ran = {
  code: number | null
  out: string
  err: string
  said: string
  /** The calls of the traced thread. */
  calls: Call[]
  /** The line of the trace in which the fault has happened. */
  hit: string | undefined
}

const { PATH, NODE_COMPILE_CACHE } = process.env

export const environmentOf = (env: Record<string, string>) => ({
  ...{ PATH, NODE_COMPILE_CACHE, USER: 'masha' },
  ...env,
})

/** Prints whether strace may follow a process that it has not started: some containers forbid it. */
const TRY = 'sleep 60 & { "$0" -o /dev/null -p $! 2>&1 & } | head -n 1; kill $!'

/** strace, which only Linux has. Undefined if it is not there and cannot be installed, or may not trace. */
export const strace = await findProgram(['/usr/bin/strace'], 'strace').then(
  (program) => {
    const { stdout } = spawnSync('sh', ['-c', TRY, program], { encoding: 'utf8' })
    return stdout.includes('attached') ? program : undefined
  },
  () => undefined,
)

/**
 * Runs a script whose calls of files are all made by two threads, and traces one of them, so that
 * the n-th call is the same in each run.
 */
export async function runTraced(
  { script, args, env, endAt, within = (words) => words }: Traced,
  thread: Thread,
  log: string,
  fault?: Fault,
): Promise<Ran> {
  const paused = [process.execPath, '--import', PAUSE, '--', resolve(ROOT, script), ...args]
  const [program = '', ...words] = within(paused)
  const child = spawn(program, words, {
    env: { ...environmentOf(env), UV_THREADPOOL_SIZE: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const ended = outcomeOf(child, endAt)
  const pid = child.pid ?? 0
  const tracer = await attach(thread === 'main' ? pid : await poolOf(pid), log, fault)
  const pipe = child.stdio[3] as Writable
  pipe.on('error', () => {})
  pipe.end('\n')
  const { code, out, err } = await ended
  await tracer.ended
  const traced = await readFile(log, 'utf8')
  const lines = traced.split('\n')
  return {
    ...{ code, out, err, said: out + err, calls: callsIn(lines, thread) },
    hit: lines.findLast((line) => / = \?$|\(INJECTED\)$/.test(line)),
  }
}

/** Collects what a process prints until it ends, and tells it to end once it has printed `endAt`. */
async function outcomeOf(child: ChildProcess, endAt?: RegExp) {
  const exited = once(child, 'exit')
  const printed = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    printed.out += part
    if (endAt?.test(printed.out)) child.kill('SIGTERM')
  })
  child.stderr?.setEncoding('utf8').on('data', (part) => {
    printed.err += part
  })
  const [code] = await exited
  return { code, ...printed }
}

/**
 * Runs a script and the programs that it starts, each of which fails at its n-th call of a name.
 * Returns no calls: no two runs of PostgreSQL make the same.
 */
export async function runPrograms(
  { script, args, env, endAt }: Traced,
  log: string,
  { call, with: error }: Fault,
): Promise<Ran> {
  const action = error === 'SIGKILL' ? 'signal=SIGKILL' : `error=${error}`
  const inject = [
    '-e',
    `trace=${call.name}`,
    '-e',
    `inject=${call.name}:${action}:when=${call.number}`,
  ]
  // With -D the process that is started is the script, and not strace.
  const words = [
    '-D',
    '-f',
    '-y',
    '-o',
    log,
    ...inject,
    process.execPath,
    join(ROOT, script),
    ...args,
  ]
  const child = spawn(strace ?? '', words, {
    env: environmentOf(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = await outcomeOf(child, endAt)
  const traced = await readFile(log, 'utf8')
  const hit = traced.split('\n').findLast((line) => /killed by SIGKILL|\(INJECTED\)$/.test(line))
  return { ...ended, said: ended.out + ended.err, calls: [], hit }
}

/** Returns the id of the thread that makes asynchronous calls of files. */
async function poolOf(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`
  for (;;) {
    for (const id of await readdir(tasks)) {
      const name = await readFile(join(tasks, id, 'comm'), 'utf8').catch(() => '')
      if (name.startsWith('libuv-worker')) return Number(id)
    }
    await delay(5)
  }
}

/** Resolves once strace follows a thread, to a promise that resolves when it has ended. */
async function attach(id: number, log: string, fault?: Fault) {
  const action = fault?.with === 'SIGKILL' ? 'signal=SIGKILL' : `error=${fault?.with}`
  const inject = fault && ['-e', `inject=${fault.call.name}:${action}:when=${fault.call.number}`]
  const what = fault ? fault.call.name : CALLS.join(',')
  const options = ['-y', '-s', '64', '-o', log, '-e', `trace=${what}`, '-e', 'signal=none']
  const tracer = spawn(strace ?? '', [...options, ...(inject ?? []), '-p', String(id)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(tracer, 'exit')
  await attached(tracer.stderr)
  return { ended: exited.then(() => {}) }
}

function attached(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    stream.setEncoding('utf8').on('data', (part) => {
      said += part
      if (/attached/.test(said)) resolve()
    })
    stream.once('end', () => reject(new Error(said)))
  })
}

function callsIn(lines: string[], thread: Thread): Call[] {
  const counts = new Map<string, number>()
  return lines.flatMap((line) => {
    const [, name] = /^(\w+)\(/.exec(line) ?? []
    if (name === undefined) return []
    const number = (counts.get(name) ?? 0) + 1
    counts.set(name, number)
    return [{ thread, name, number, line }]
  })
}
