import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { BackupError } from '../server/backup/backup-error.ts'
import { readConfig } from '../server/config.ts'
import { AppError } from '../server/http/app-error.ts'
import { callerFolder, fromCaller } from '../server/start/caller-folder.ts'
import { explainStartFailure } from '../server/start/start-failure.ts'
import { backup, restore, verify } from './backup.ts'
import { ban } from './ban.ts'
import { close, invite, open } from './closing.ts'
import type { Command, Context, Output, Values } from './command.ts'
import { Refusal, UsageError } from './command-errors.ts'
import { doctor } from './doctor.ts'
import { commandHelp, programHelp } from './help.ts'
import { interruption, listenForInterruption, unlessInterrupted } from './interruption.ts'
import { journal } from './journal.ts'
import { mail } from './mail.ts'
import { moderator } from './moderator.ts'
import { openWall, stopDatabases } from './open-wall.ts'
import { post } from './post.ts'
import { psql } from './psql.ts'
import { recount } from './recount.ts'
import { report, reports } from './reports.ts'
import { status } from './status.ts'
import { user } from './user.ts'

/** Every command by its name, in the order of the help. */
const COMMANDS: Record<string, Command> = {
  status,
  reports,
  report,
  post,
  user,
  moderator,
  ban,
  close,
  open,
  invite,
  journal,
  recount,
  mail,
  backup,
  verify,
  restore,
  doctor,
  psql,
}

/** Options of every command; those with a value end in `=`. */
const COMMON = ['help', 'json', 'yes', 'dry-run', 'env-file=', 'as=']

const say = (line: string) => process.stderr.write(`${line}\n`)

listenForInterruption()
process.exitCode = await main(process.argv.slice(2))
if (interruption.aborted) {
  await stopDatabases()
  // Statements of the command may still run on another machine's database.
  process.exit()
}

/** Returns the exit code: 0 done, 1 refused with a sentence, 2 wrong usage. */
async function main(args: string[]): Promise<number> {
  try {
    return (await runCommand(args)) ? 1 : 0
  } catch (error) {
    // The command line may be too wrong to be parsed.
    if (args.includes('--json'))
      print({ lines: [], json: { error: explain(error) } }, { json: true })
    else say(explain(error))
    const isWrong = error instanceof UsageError && !interruption.aborted
    if (isWrong) say('Подсказка: vslukh --help')
    return isWrong ? 2 : 1
  }
}

function explain(error: unknown): string {
  if (interruption.aborted) return (interruption.reason as Error).message
  if (error instanceof UsageError) return `Неверный вызов: ${error.message}`
  const isSentence = [Refusal, AppError, BackupError].some((kind) => error instanceof kind)
  return isSentence ? (error as Error).message : explainStartFailure(error)
}

/** Returns whether the command has found something broken. */
async function runCommand(args: string[]): Promise<boolean> {
  const { values, positionals } = parse(args)
  const [name, ...words] = positionals
  if (name === undefined) {
    if (values.help !== true) throw new UsageError('не названа команда')
    return print(programHelp(COMMANDS), values)
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) throw new UsageError(`команды «${name}» нет`)
  if (values.help === true) return print(commandHelp(command), values)
  requireKnown(command, name, values)
  if (typeof values['env-file'] === 'string') loadEnvFile(values['env-file'])
  if ('runAlone' in command) {
    return print(await unlessInterrupted(command.runAlone({ words, say })), values)
  }
  const config = readConfig(process.env, callerFolder)
  const isDryRun = values['dry-run'] === true
  const confirm = (question: string) => ask(question, values)
  const context = { config, values, words, isDryRun, actor: actorOf(values), confirm }
  const running =
    'run' in command ? runOnWall(command, context) : command.runWithoutWall({ ...context, say })
  const output = await (command.endsWhenInterrupted ? running : unlessInterrupted(running))
  if (isDryRun) say('Пробный запуск: ничего не изменено.')
  return print(output, values)
}

async function runOnWall(
  command: Extract<Command, { run: unknown }>,
  context: Omit<Context, 'wall' | 'db'>,
): Promise<Output> {
  const wall = await openWall(context.config, say)
  return await command.run({ ...context, wall, db: wall.db }).finally(wall.close)
}

function parse(args: string[]): { values: Values; positionals: string[] } {
  const all = [...COMMON, ...Object.values(COMMANDS).flatMap(({ options = [] }) => options)]
  const options = all.map((option) => {
    const name = option.replace('=', '')
    return [name, { type: option.endsWith('=') ? 'string' : 'boolean' } as const] as const
  })
  try {
    return parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Throws UsageError for an option of another command. */
function requireKnown({ options = [] }: Command, name: string, values: Values): void {
  const known = [...COMMON, ...options].map((option) => option.replace('=', ''))
  const foreign = Object.keys(values).find((option) => !known.includes(option))
  if (foreign !== undefined) throw new UsageError(`у команды ${name} нет --${foreign}`)
}

function loadEnvFile(path: string): void {
  try {
    process.loadEnvFile(fromCaller(path))
  } catch (cause) {
    throw new Refusal(`--env-file: файл ${path} не прочитан`, { cause })
  }
}

/** Who acts, for the journal: `--as`, else who called sudo, else the user of this terminal. */
function actorOf(values: Values): string {
  const { SUDO_USER, USER } = process.env
  return String(values.as || SUDO_USER || USER || userInfo().username)
}

/** Asks on the terminal. Throws Refusal for anything but a yes, and where nobody can be asked. */
async function ask(question: string, values: Values): Promise<void> {
  if (values.yes === true || values['dry-run'] === true) return
  if (!process.stdin.isTTY) throw new Refusal(`${question} Подтвердите: добавьте --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [да/нет] `).finally(() => terminal.close())
  if (!/^(да|д|y|yes)$/i.test(answer.trim())) throw new Refusal('Ничего не изменено.')
}

/** Prints an output. Returns whether something is broken. */
function print({ lines, json, isBroken = false }: Output, values: Values): boolean {
  const text = values.json === true ? JSON.stringify(json, null, 2) : lines.join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
  return isBroken
}
