import type { Command, Output } from './command.ts'

const COMMON = [
  'У каждой команды:',
  '  --json           ответ для программ, отказ — {"error": "…"}',
  '  --dry-run        сделать всё и отменить: видно, что было бы',
  '  --yes            не спрашивать подтверждения',
  '  --as ИМЯ         кто действует, для журнала',
  '  --env-file ФАЙЛ  переменные, с которыми запущен сервер',
  '  --help           подсказка',
]

/** The help of the program: each command with its summary. */
export function programHelp(commands: Record<string, Command>): Output {
  const listed = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`,
  )
  const lines = [
    'vslukh КОМАНДА …',
    '',
    ...listed,
    '',
    ...COMMON,
    '',
    'Код выхода: 0 — сделано, 1 — отказано, 2 — неверный вызов.',
  ]
  const json = Object.entries(commands).map(([name, command]) => ({ name, ...factsOf(command) }))
  return { lines, json: { commands: json } }
}

/** What programs are told of a command. */
function factsOf({ usage, summary, options = [] }: Command) {
  return { usage, summary, options }
}

/** The help of one command: each way to call it. */
export function commandHelp(command: Command): Output {
  const { usage, summary } = command
  const lines = [...usage.map((line) => `vslukh ${line}`), '', summary, '', ...COMMON]
  return { lines, json: factsOf(command) }
}
