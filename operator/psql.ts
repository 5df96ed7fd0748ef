import { spawnSync } from 'node:child_process'
import type { Command, Context, Output } from './command.ts'

export const psql: Command = {
  summary: 'открывает базу данных в psql, а без него печатает её адрес',
  needs: 'wall',
  forms: { psql: open },
  endsWhenInterrupted: true,
}

async function open({ wall, options, say, env: inherited }: Context): Promise<Output> {
  const { url, isTemporary } = wall
  const print = () => {
    if (isTemporary) say('Сервер остановлен: адрес действует, только пока он работает.')
    return { lines: [url], json: { url } }
  }
  if (options.json || !process.stdin.isTTY) return print()
  // Ignores Ctrl+C, because psql handles it.
  process.on('SIGINT', () => {})
  const { address, env } = movePasswordToEnv(url)
  const { error, status } = spawnSync('psql', [address], {
    stdio: 'inherit',
    env: { ...inherited, ...env },
  })
  return error ? print() : { lines: [], json: null, isBroken: status !== 0 }
}

/** Moves the password into PGPASSWORD, because every user can read a program's arguments. */
export function movePasswordToEnv(url: string): { address: string; env: { PGPASSWORD?: string } } {
  const address = new URL(url)
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password)
  address.searchParams.delete('password')
  // The change above has written spaces as plus signs, which psql does not decode.
  address.search = address.search.replaceAll('+', '%20')
  address.password = ''
  return { address: address.href, env: password === '' ? {} : { PGPASSWORD: password } }
}
