import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endChild } from '../../server/testing/child-process.ts'
import { childrenOf } from '../../server/testing/processes.ts'
import { readDeployFile } from '../operations/deploy-file.ts'
import { postgresUser } from '../operations/own-postgres.ts'
import type { Programs } from './programs.ts'

/** The first three bytes of the machines' addresses in the files of deploy/patroni. */
const WRITTEN_NETWORK = '10.0.0.'
export const PASSWORDS = {
  SUPERUSER_PASSWORD: 'superuser-of-a-test',
  REPLICATION_PASSWORD: 'replication-of-a-test',
  REWIND_PASSWORD: 'rewind-of-a-test',
}

type MachineSettings = {
  /** 1, 2 or 3: the machines are db1, db2 and db3. */
  number: number
  /** The first three bytes of the machines' addresses, on loopback. */
  network: string
  folder: string
  programs: Programs
}

export type Machine = Awaited<ReturnType<typeof prepareMachine>>

/** Returns replacements of the addresses in deploy/patroni, and of db1's by another machine's. */
export function inNetwork(network: string, ownKeys: string[] = [], number = 1): [string, string][] {
  const own = ownKeys.map((key): [string, string] => [
    `${key}${WRITTEN_NETWORK}11`,
    `${key}${network}${10 + number}`,
  ])
  return [...own, [WRITTEN_NETWORK, network]]
}

/**
 * Writes the files of deploy/patroni with the addresses and folders of a test. Programs run as
 * Debian's user postgres if root runs the test.
 */
export async function prepareMachine({ number, network, folder, programs }: MachineSettings) {
  const name = `db${number}`
  const user = await postgresUser()
  const data = join(folder, 'data')
  const [etcdFile, patroniFile] = [join(folder, 'etcd.yml'), join(folder, 'patroni.yml')]
  const etcdUrls = ['listen-client', 'advertise-client', 'listen-peer', 'initial-advertise-peer']
  const etcdText = await readDeployFile('patroni/etcd.yml', [
    ['name: db1', `name: ${name}`],
    ['/var/lib/etcd/vslukh', join(folder, 'etcd')],
    ...inNetwork(
      network,
      etcdUrls.map((key) => `${key}-urls: http://`),
      number,
    ),
  ])
  const patroniText = await readDeployFile('patroni/patroni.yml', [
    ['name: db1', `name: ${name}`],
    ['/var/lib/postgresql/vslukh', data],
    ['/var/lib/postgresql/pgpass', join(folder, 'pgpass')],
    ['/usr/lib/postgresql/15/bin', programs.postgresFolder],
    ['/var/run/postgresql', folder],
    // On loopback every connection comes from 127.0.0.1.
    ['10.0.0.0/24', '127.0.0.0/8'],
    ...Object.entries(PASSWORDS),
    ...inNetwork(network, ['listen: ', 'connect_address: '], number),
  ])
  await writeFile(etcdFile, etcdText)
  await writeFile(patroniFile, patroniText)

  let etcd: ChildProcess | undefined
  let patroni: ChildProcess | undefined
  const start = (program: string, args: string[]) => {
    const log = openSync(join(folder, 'log'), 'a')
    const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' }
    return spawn(program, args, {
      ...user,
      cwd: folder,
      env,
      stdio: ['ignore', log, log],
    })
  }

  return {
    name,
    address: `${network}${10 + number}`,
    startEtcd() {
      etcd = start(programs.etcd, ['--config-file', etcdFile])
    },
    startPatroni() {
      patroni = start(programs.patroni, [patroniFile])
    },
    killEtcd: () => endChild(etcd, 'SIGKILL'),
    /**
     * Ends all processes of the database at once, as when the machine loses its power; etcd goes
     * on.
     */
    async killDatabase(): Promise<void> {
      const pids = await postgresProcesses(data)
      const patroniGone = endChild(patroni, 'SIGKILL')
      for (const pid of pids) killProcess(pid)
      await patroniGone
    },
    async close(): Promise<void> {
      await this.killDatabase()
      await this.killEtcd()
    },
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** Returns the ids of a cluster's postmaster and of its children. */
async function postgresProcesses(data: string): Promise<number[]> {
  const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const postmaster = Number(file.split('\n', 1)[0])
  // The file outlives a killed PostgreSQL, and its id may belong to another process by now.
  const command = await readFile(`/proc/${postmaster}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes(data)) return []
  return [postmaster, ...childrenOf(postmaster)]
}
