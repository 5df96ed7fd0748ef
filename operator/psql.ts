import { spawnSync } from 'node:child_process'
import type { Command, Context, Output } from './command.ts'
import { requireWords } from './command.ts'

export const psql: Command = {
  usage: ['psql'],
  summary: 'открывает базу данных в psql, а без него печатает её адрес',
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const { url } = context.wall
    const printed = { lines: [url], json: { url } }
    if (context.values.json === true || !process.stdin.isTTY) return printed
    // Ctrl+C belongs to psql.
    process.on('SIGINT', () => {})
    const { error } = spawnSync('psql', [url], { stdio: 'inherit' })
    return error ? printed : { lines: [], json: null }
  },
}
