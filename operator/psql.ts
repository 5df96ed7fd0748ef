import { spawnSync } from 'node:child_process'
import { type Command, type Context, type Output, requireWords } from './command.ts'

export const psql: Command = {
  usage: ['psql'],
  summary: 'открывает базу данных в psql, а без него печатает её адрес',
  endsWhenInterrupted: true,
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const { url } = context.wall
    const printed = { lines: [url], json: { url } }
    if (context.values.json === true || !process.stdin.isTTY) return printed
    // psql handles Ctrl+C itself.
    process.on('SIGINT', () => {})
    const { address, env } = withoutPassword(url)
    const options = { stdio: 'inherit', env: { ...context.env, ...env } } as const
    const { error } = spawnSync('psql', [address], options)
    return error ? printed : { lines: [], json: null }
  },
}

/**
 * Moves the password into PGPASSWORD: every user of the machine can read a program's arguments.
 */
export function withoutPassword(url: string): { address: string; env: { PGPASSWORD?: string } } {
  const address = new URL(url)
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password)
  address.searchParams.delete('password')
  address.password = ''
  return { address: address.href, env: password === '' ? {} : { PGPASSWORD: password } }
}
