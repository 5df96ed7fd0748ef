import type { Command, Output } from './command.ts'

const COMMON = [
  'У каждой команды:',
  '  --json           ответ для программ',
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
  return { lines, json: null }
}

/** The help of one command: each way to call it. */
export function commandHelp({ usage, summary }: Command): Output {
  const lines = [...usage.map((line) => `vslukh ${line}`), '', summary, '', ...COMMON]
  return { lines, json: null }
}
