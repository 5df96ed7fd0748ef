import { readdir, readFile, readlink } from 'node:fs/promises'

export type PortHolder = { program: string; pid: string; uid: number }

const LISTENING = '0A'

/** Returns the program that listens on a TCP port. Only root sees the programs of other users. */
export async function portHolder(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(readTable))
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const [, , , , , , , uid, , inode] =
    tables.flat().find(([, local, , state]) => state === LISTENING && local?.endsWith(at)) ?? []
  if (inode === undefined) return undefined
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await hasSocket(pid, inode))) continue
    const program = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim()
    return { program, pid, uid: Number(uid) }
  }
  return { program: '?', pid: '?', uid: Number(uid) }
}

async function readTable(name: string): Promise<string[][]> {
  const text = await readFile(`/proc/net/${name}`, 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.trim().split(/\s+/))
}

async function hasSocket(pid: string, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const links = names.map((name) => readlink(`${folder}/${name}`).catch(() => ''))
  return (await Promise.all(links)).includes(`socket:[${inode}]`)
}

export const holderName = (port: number, { program, pid }: PortHolder) =>
  `порт ${port} занят программой ${program} (PID ${pid})`
