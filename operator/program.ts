import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { parseEnv } from 'node:util'
import { readConfig } from '../server/kernel/config/config.ts'
import { getOpenedFile } from '../server/kernel/config/opened-files.ts'
import { productVersion } from '../server/kernel/db/migrate.ts'
import { AppError } from '../server/kernel/errors/app-error.ts'
import { userName, whyFailed } from '../server/kernel/errors/why-failed.ts'
import { callerFolder, resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import { archive } from './archive.ts'
import { backup, restore, verify } from './backup.ts'
import { ban } from './ban.ts'
import type { BaseContext, Command, Env, Forms, Output } from './command.ts'
import { Interrupted, Refusal, UsageError } from './command.ts'
import {
  commandHelp,
  findForm,
  nearestName,
  parseCommandLine,
  programHelp,
} from './command-line.ts'
import { doctor } from './doctor.ts'
import { printable } from './format.ts'
import { journal } from './journal.ts'
import { mail } from './mail.ts'
import { moderator } from './moderator.ts'
import { moveDatabase } from './move-database/move-database.ts'
import { openWall } from './open-wall.ts'
import type { Options } from './options.ts'
import { people } from './people.ts'
import { post } from './post.ts'
import { clearProgress } from './progress.ts'
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
  archive,
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

/** Runs one command. Returns the exit code: 0 if done, 1 if refused, 2 for a wrong call. */
export async function runProgram(args: string[], terminal: Terminal): Promise<number> {
  const say = (line: string) => {
    clearProgress()
    terminal.err.write(`${printable(line)}\n`)
  }
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
  return error instanceof AppError ? error.message : explainStartFailure(error)
}

type Speaking = Terminal & { say: (line: string) => void }

async function runCommand(args: string[], terminal: Speaking): Promise<boolean> {
  const { given, positionals } = parseCommandLine(args)
  const show = (output: Output) => {
    print(terminal, given.json ? { json: output.json } : output)
    return output.isBroken ?? false
  }
  const isHelp = given.help || positionals[0] === 'help'
  const [name, ...words] = positionals[0] === 'help' ? positionals.slice(1) : positionals
  if (given.version) {
    const version = productVersion()
    return show({ lines: [`vslukh ${version}`], json: { version } })
  }
  if (name === undefined) {
    if (!isHelp) throw new UsageError('не названа команда')
    return show(programHelp(COMMANDS))
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const meant = nearestName(name, Object.keys(COMMANDS))
    throw new UsageError(`команды «${name}» нет${meant ? `; может быть, ${meant}?` : ''}`)
  }
  if (isHelp) return show(commandHelp(command))
  const called = async () => run(command, findForm(command, words, given), terminal)
  const output = await called().catch((error) => {
    throw error instanceof UsageError ? Object.assign(error, { command: name }) : error
  })
  if (given['dry-run']) terminal.say('Пробный запуск: ничего не изменено.')
  return show(output)
}

function run(
  command: Command,
  { usage, words, options }: ReturnType<typeof findForm>,
  terminal: Speaking,
): Promise<Output> {
  const { say, input, err } = terminal
  const env = withEnvFile(terminal.env, options['env-file'])
  const base: BaseContext = {
    ...{ env, options, words, say, isDryRun: options['dry-run'] === true },
    // The actor for the journal: `--as`, else the user who called sudo, else this user.
    actor: options.as || env.SUDO_USER || env.USER || userName(),
    prompt: input && !options.yes ? prompt.bind(null, { input, err }) : undefined,
    confirm: (question) => askToConfirm(question, options, terminal),
  }
  const running = perform(command, usage, base)
  return command.endsWhenInterrupted ? running : unlessInterrupted(running)
}

async function perform(command: Command, usage: string, base: BaseContext): Promise<Output> {
  const call = <C>(forms: Forms<C>, context: C) => (forms[usage] as Forms<C>[string])(context)
  if (command.needs === 'nothing') return call(command.forms, base)
  const context = { ...base, config: readConfig(base.env, callerFolder) }
  if (command.needs === 'settings') return call(command.forms, context)
  await using wall = await unlessInterrupted(openWall(context.config, context.say))
  return await call(command.forms, { ...context, wall, db: wall.db })
}

/** Returns `env` with those variables of `--env-file` that are not set yet. May throw Refusal. */
function withEnvFile(env: Env, path: string | undefined): Env {
  if (path === undefined) return env
  try {
    return {
      ...parseEnv(
        readFileSync(getOpenedFile(resolveFromCaller(path))?.fd ?? resolveFromCaller(path), 'utf8'),
      ),
      ...env,
    }
  } catch (cause) {
    throw new Refusal(`Настройки в ${path} не прочитаны: ${whyFailed(cause)}.`, { cause })
  }
}

/** Asks for confirmation. Throws Refusal if the answer is not yes, or if there is no terminal. */
async function askToConfirm(
  question: string,
  options: Options,
  { input, err }: Terminal,
): Promise<void> {
  if (options.yes || options['dry-run']) return
  if (!input) throw new Refusal(`${question} Подтвердите: добавьте --yes.`)
  const answer = await prompt({ input, err }, `${question} [да/нет] `).catch((cause) => {
    throw new Interrupted('Прервано. Ничего не изменено.', { cause })
  })
  if (!/^(да|д|y|yes)$/i.test(answer)) throw new Refusal('Ничего не изменено.')
}

function print({ out }: Terminal, output: { json: unknown; lines?: string[] }): void {
  clearProgress()
  const text = output.lines?.join('\n') ?? JSON.stringify(output.json, null, 2)
  if (text !== '') out.write(`${printable(text)}\n`)
}
