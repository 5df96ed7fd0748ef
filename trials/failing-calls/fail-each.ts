import { appendFile, mkdir, readdir, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { runHere } from '../../server/testing/process/run-command.ts'
import { attempt, ROOT } from '../operations/deploy-file.ts'
import {
  type Call,
  environmentOf,
  type Fault,
  type Ran,
  runPrograms,
  runTraced,
  THREADS,
  type Traced,
} from './traced-run.ts'

/** Whether a command has left everything as it was before, or has done its work. */
export type State = 'old' | 'new'

export type Trial = Traced & {
  /** The folder or file that is on the failing disk. It is made anew for each run. */
  disk: string
  prepare?: () => Promise<unknown>
  /** Returns the state of what the command changes. Throws if it is damaged. */
  stateOf: () => Promise<State>
  /** The beginnings of the disk's paths in the trace, if the command knows it by others. */
  seenAs?: string[]
  /** The names below the disk that may be there when a command has ended. */
  mayBeThere: Pick<RegExp, 'test'>
  /** The words with which a repeated command refuses what is done. */
  isDone?: RegExp
  /** Whether the command stores nothing, so that it may succeed on another disk. */
  storesNothing?: boolean
  /** What else a killed command may leave, because something removes it later. */
  removedLater?: RegExp
}

/** What a disk answers to a call that changes something. */
const CHANGES = ['EIO', 'ENOSPC', 'EDQUOT', 'EROFS', 'SIGKILL']
const READS = ['EIO']
const WHICH = process.env.FAILING_CALLS
const ERRORS = process.env.FAILING_ERRORS?.split(',')
const LOG = process.env.FAILING_LOG

const READING =
  /^(read|pread64|readv|preadv|stat|lstat|fstat|newfstatat|statx|statfs|access|faccessat2?|getdents64|readlink)$/
const isReading = ({ name, line }: Call) =>
  READING.test(name) || (name.startsWith('open') && !/O_CREAT|O_WRONLY|O_RDWR/.test(line))

/** The calls without which nothing is stored. */
const STORES = /^(p?write(v|64)?|fsync|fdatasync|rename)$/
/** Words of programs and of JavaScript, which no operator should have to read. */
const NOT_FOR_PEOPLE = /^ +at |node:internal|^initdb|removing|^\w*Error\b|\[object/m

export const OPERATOR = 'operator/main.ts'

type Verdicts = { runs: number; faults: string[] }

/** Fails the calls of a command, one in each run. Returns the number of runs and what was wrong. */
export async function failEach(trial: Trial): Promise<Verdicts> {
  const verdicts: Verdicts = { runs: 0, faults: [] }
  for (const thread of WHICH ? THREADS : (['pool'] as const)) {
    await begin(trial)
    const { calls } = await runTraced(trial, thread, logOf(trial))
    const own = calls.filter((call) => isOnDisk(call, trial))
    const tried = own.flatMap((call) =>
      (isReading(call) ? READS : CHANGES).map((error) => ({ call, with: error })),
    )
    for (const fault of chosen(tried, trial)) {
      const found = await failOne(trial, fault)
      if (found === undefined) continue
      verdicts.runs++
      const name = `${trial.script} ${trial.args.join(' ')}: ${thread} ${fault.call.name} ${fault.call.number} ${fault.with}`
      if (found) verdicts.faults.push(`${name}: ${found}\n    ${fault.call.line}`)
      if (LOG)
        await appendFile(
          LOG,
          `${found ? 'FAULT' : 'right'} ${name} ${found}\n    ${fault.call.line}\n`,
        )
    }
  }
  return verdicts
}

/** The calls with which programs store something. */
const STORED_BY_PROGRAMS = ['fsync', 'fdatasync', 'rename', 'mkdir', 'pwrite64', 'link', 'unlink']

/**
 * Fails the calls of a command and of the programs that it starts: the first, second, fourth and so
 * on of each process, as long as one makes so many.
 */
export async function failPrograms(trial: Trial): Promise<Verdicts> {
  const verdicts: Verdicts = { runs: 0, faults: [] }
  for (const name of STORED_BY_PROGRAMS) {
    for (const error of ['EIO', 'ENOSPC', 'SIGKILL']) {
      for (let number = 1; ; number *= 2) {
        const call: Call = { thread: 'main', name, number, line: '' }
        const fault = { call, with: error }
        await begin(trial)
        const ran = await runPrograms(trial, logOf(trial), fault)
        if (!ran.hit) break
        verdicts.runs++
        const found = await judge(trial, ran, fault, 'programs').catch(String)
        const what = `${trial.script} ${trial.args.join(' ')}: ${name} ${number} ${error}`
        if (LOG) await appendFile(LOG, `${found ? 'FAULT' : 'right'} ${what} ${found}\n`)
        if (found) verdicts.faults.push(`${what}: ${found}`)
      }
    }
  }
  return verdicts
}

const logOf = ({ disk }: Trial) => `${disk}.strace`

/**
 * Returns all faults; or of calls on the same file those of the first and the last; or a few, for
 * `npm test`.
 */
function chosen(faults: Fault[], trial: Trial): Fault[] {
  const named = ERRORS ? faults.filter((fault) => ERRORS.includes(fault.with)) : faults
  if (WHICH === 'all') return named
  if (WHICH === 'kinds') {
    const kinds = Map.groupBy(named, ({ call, with: error }) => `${error} ${kindOf(call, trial)}`)
    return named.filter((fault) =>
      [...kinds.values()].some((kind) => kind[0] === fault || kind.at(-1) === fault),
    )
  }
  const changes = faults.filter(
    ({ call, with: error }) => !isReading(call) && /EIO|KILL/.test(error),
  )
  return [...changes.slice(0, 1), ...changes.slice(-4)]
}

/** Random parts of names, and all files in a folder of a folder of the disk, are the same kind. */
const kindOf = ({ name, line }: Call, { disk, seenAs = [disk] }: Trial) => {
  const paths = seenAs.map((path) => RegExp.escape(path)).join('|')
  const [, seen = '', below = ''] = line.match(new RegExp(`(${paths})([^">]*)`)) ?? []
  const common = below.replace(/[0-9a-f]{6}-\d+-[0-9a-f]{6}/, '').replace(/\.new-\w+/, '')
  return `${name} ${seen}${common.split('/').slice(0, 3).join('/')}`
}

/** A trace names the file of a descriptor in brackets, and quotes the paths of other calls. */
function isOnDisk({ line, name }: Call, { disk, seenAs = [disk] }: Trial): boolean {
  const ofDescriptor = /^p?(read|write)(v|64)?$/.test(name)
  const paths = seenAs.map((path) => RegExp.escape(path)).join('|')
  if (ofDescriptor) return new RegExp(`^\\w+\\(\\d+<(${paths})`).test(line)
  return new RegExp(`["<](${paths})`).test(line) && !line.includes('"/proc/')
}

async function begin({ disk, prepare = async () => {} }: Trial): Promise<void> {
  await rm(disk, { recursive: true, force: true })
  await mkdir(disk)
  await prepare()
}

/** Returns what was wrong, an empty string if nothing was; undefined if the call was not reached. */
async function failOne(trial: Trial, fault: Fault): Promise<string | undefined> {
  await begin(trial)
  const ran = await runTraced(trial, fault.call.thread, logOf(trial), fault)
  // The thread tells the main thread of each result by a write too, which no disk can fail.
  if (!ran.hit || !isOnDisk({ ...fault.call, line: ran.hit }, trial)) return undefined
  try {
    return await judge(trial, ran, fault)
  } catch (error) {
    return `the judge failed: ${String(error)}`
  }
}

async function judge(trial: Trial, ran: Ran, fault: Fault, whose?: 'programs'): Promise<string> {
  const isKilled = fault.with === 'SIGKILL' && ran.code === null
  const wrong: string[] = []
  if (!isKilled) {
    const ended = trial.endAt && ran.code === 0
    if (ran.code !== 0 && ran.code !== 1) wrong.push(`exit ${ran.code}`)
    if (NOT_FOR_PEOPLE.test(ran.said)) wrong.push('not words for people')
    if (ran.code === 1 && !/[а-яё]/i.test(ran.err)) wrong.push('no sentence')
    const left = await leftOf(trial)
    if (left.length > 0) wrong.push(`left: ${left}`)
    // What was not written may be gone after a power cut.
    const mustStore = !whose && !trial.storesNothing && STORES.test(fault.call.name)
    if (mustStore && ran.code === 0) wrong.push('success')
    if (!ended && ran.code === 0 && (await trial.stateOf()) !== 'new')
      wrong.push('success without work')
  }
  await trial.stateOf()
  const again = await runAgain(trial)
  if (again.code !== 0 && !trial.isDone?.test(again.said))
    wrong.push(`again: exit ${again.code}: ${again.said.trim()}`)
  else if ((await trial.stateOf()) !== 'new') wrong.push('again: no work')
  const left = await leftOf(trial, isKilled)
  if (left.length > 0) wrong.push(`again: left: ${left}`)
  if (wrong.length > 0) wrong.push(`said: ${ran.said.trim()}`)
  return wrong.join(' | ')
}

async function leftOf(
  { disk, mayBeThere, removedLater }: Trial,
  isKilled = false,
): Promise<string[]> {
  const names = await readdir(disk, { recursive: true })
  return names.filter((name) => !mayBeThere.test(name) && !(isKilled && removedLater?.test(name)))
}

async function runAgain({ script, args, env, endAt, within = (words) => words }: Trial) {
  if (endAt) return runToEnd({ script, args, env, endAt })
  const [program = '', ...words] = within([process.execPath, resolve(ROOT, script), ...args])
  const { code, out, err } =
    script === OPERATOR
      ? await runHere(env, args)
      : await attempt(program, words, environmentOf(env))
  return { code, said: out + err }
}

async function runToEnd(traced: Traced) {
  const { code, said } = await runTraced(traced, 'main', '/dev/null')
  return { code: traced.endAt?.test(said) ? code : 1, said }
}
