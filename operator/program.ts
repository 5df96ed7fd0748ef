import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { parseEnv } from 'node:util'
import { readConfig } from '../server/kernel/config/config.ts'
import { AppError } from '../server/kernel/errors/app-error.ts'
import { BackupError } from '../server/operations/backup/backup-folder.ts'
import { callerFolder, fromCaller } from '../server/operations/start/caller-folder.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import { backup, restore, verify } from './backup.ts'
import { ban } from './ban.ts'
import type { Command, Context, ContextWithoutWall, Env, Output, Values } from './command.ts'
import { Interrupted, MissingWords, Refusal, UsageError } from './command.ts'
import {
  commandHelp,
  missingWords,
  nearest,
  optionsOf,
  parseCommandLine,
  programHelp,
  versionOutput,
} from './command-line.ts'
import { doctor } from './doctor.ts'
import { journal } from './journal.ts'
import { mail } from './mail.ts'
import { moderator } from './moderator.ts'
import { moveDatabase } from './move-database/move-database.ts'
import { openWall } from './open-wall.ts'
import { people } from './people.ts'
import { post } from './post.ts'
import { psql } from './psql.ts'
import { recount } from './recount.ts'
import { report, reports } from './reports.ts'
import { setup } from './setup/setup.ts'
import { close, invite, notice, open } from './site-state.ts'
import { status } from './status.ts'
import { interruption, prompt, unlessInterrupted } from './terminal.ts'
import { upgrade } from './upgrade.ts'
import { user } from './user.ts'

const COMMANDS: Record<string, Command> = {
  status,
  reports,
  report,
  post,
  user,
  people,
  moderator,
  ban,
  close,
  open,
  notice,
  invite,
  journal,
  recount,
  mail,
  backup,
  verify,
  restore,
  'move-database': moveDatabase,
  upgrade,
  doctor,
  psql,
  setup,
}

export type Terminal = {
  env: Env
  out: Writable
  err: Writable
  input?: Readable
}

/** Runs one command. Returns the exit code: 0 done, 1 refused with a sentence, 2 wrong usage. */
export async function runProgram(args: string[], terminal: Terminal): Promise<number> {
  const say = (line: string) => void terminal.err.write(`${line}\n`)
  try {
    return (await runCommand(args, { ...terminal, say })) ? 1 : 0
  } catch (error) {
    // Reads `--json` from the raw arguments, because they may have failed to parse.
    if (args.includes('--json')) print(terminal, { json: { error: explain(error) } })
    else say(explain(error))
    const isWrong = error instanceof UsageError && !interruption.aborted
    if (isWrong) say(`Подсказка: vslukh ${error.command ? `help ${error.command}` : '--help'}`)
    return isWrong ? 2 : 1
  }
}

function explain(error: unknown): string {
  if (interruption.aborted) return (interruption.reason as Error).message
  if (error instanceof UsageError) return `Неверный вызов: ${error.message}`
  const isSentence = [Refusal, AppError, BackupError].some((kind) => error instanceof kind)
  return isSentence ? (error as Error).message : explainStartFailure(error)
}

type Speaking = Terminal & { say: (line: string) => void }

async function runCommand(args: string[], terminal: Speaking): Promise<boolean> {
  const { values, positionals } = parseCommandLine(args, Object.values(COMMANDS))
  const show = (output: Output) => printOutput(terminal, output, values)
  const isHelp = values.help === true || positionals[0] === 'help'
  const [name, ...words] = positionals[0] === 'help' ? positionals.slice(1) : positionals
  if (values.version === true) return show(versionOutput())
  if (name === undefined) {
    if (!isHelp) throw new UsageError('не названа команда')
    return show(programHelp(COMMANDS))
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const meant = nearest(name, Object.keys(COMMANDS))
    throw new UsageError(`команды «${name}» нет${meant ? `; может быть, ${meant}?` : ''}`)
  }
  if (isHelp) return show(commandHelp(command))
  const isDryRun = values['dry-run'] === true
  const called = async () => {
    requireKnown(command, name, values)
    const env = withFile(terminal.env, values['env-file'])
    return runWith(command, { env, words, values, isDryRun }, terminal)
  }
  const output = await called().catch((error) => {
    if (!(error instanceof UsageError)) throw error
    const missing = error instanceof MissingWords ? missingWords(command, words) : ''
    const wrong = missing === '' ? error : new UsageError(`не хватает: ${missing}`)
    throw Object.assign(wrong, { command: name })
  })
  if (isDryRun) terminal.say('Пробный запуск: ничего не изменено.')
  return show(output)
}

type Call = Pick<Context, 'env' | 'words' | 'values' | 'isDryRun'>

function runWith(command: Command, call: Call, terminal: Speaking): Promise<Output> {
  const { say, input, err } = terminal
  if ('runAlone' in command) {
    const asking = input &&
      call.values.yes !== true && { prompt: prompt.bind(null, { input, err }) }
    return unlessInterrupted(command.runAlone({ ...call, ...asking, say, actor: actorOf(call) }))
  }
  const config = readConfig(call.env, callerFolder)
  const confirm = (question: string) => ask(question, call.values, terminal)
  const context = { ...call, config, actor: actorOf(call), confirm, say }
  const running = 'run' in command ? runOnWall(command, context) : command.runWithoutWall(context)
  return command.endsWhenInterrupted ? running : unlessInterrupted(running)
}

async function runOnWall(
  command: Extract<Command, { run: unknown }>,
  context: ContextWithoutWall,
): Promise<Output> {
  const wall = await openWall(context.config, context.say)
  return await command.run({ ...context, wall, db: wall.db }).finally(wall.close)
}

function requireKnown(command: Command, name: string, values: Values): void {
  const known = optionsOf([command]).map((option) => option.replace('=', ''))
  const foreign = Object.keys(values).find((option) => !known.includes(option))
  if (foreign !== undefined) throw new UsageError(`у команды ${name} нет --${foreign}`)
}

/** Adds the variables of `--env-file`, except those that are set already. */
function withFile(env: Env, path: Values[string]): Env {
  if (typeof path !== 'string') return env
  try {
    return { ...parseEnv(readFileSync(fromCaller(path), 'utf8')), ...env }
  } catch (cause) {
    throw new Refusal(`--env-file: файл ${path} не прочитан`, { cause })
  }
}

/** Returns the actor for the journal: `--as`, else the user who called sudo, else this user. */
function actorOf({ env, values }: Call): string {
  return String(values.as || env.SUDO_USER || env.USER || userInfo().username)
}

/** Throws Refusal if the answer is not yes, or if there is no terminal to ask on. */
async function ask(question: string, values: Values, { input, err }: Terminal): Promise<void> {
  if (values.yes === true || values['dry-run'] === true) return
  if (!input) throw new Refusal(`${question} Подтвердите: добавьте --yes.`)
  const answer = await prompt({ input, err }, `${question} [да/нет] `).catch((cause) => {
    throw new Interrupted('Прервано. Ничего не изменено.', { cause })
  })
  if (!/^(да|д|y|yes)$/i.test(answer)) throw new Refusal('Ничего не изменено.')
}

function printOutput(terminal: Terminal, output: Output, values: Values): boolean {
  print(terminal, values.json === true ? { json: output.json } : output)
  return output.isBroken ?? false
}

function print({ out }: Terminal, output: { json: unknown; lines?: string[] }): void {
  const text = output.lines?.join('\n') ?? JSON.stringify(output.json, null, 2)
  if (text !== '') out.write(`${text}\n`)
}
