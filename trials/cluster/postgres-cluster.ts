import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { executeOn } from '../../server/testing/database/databases.ts'
import { findBalancer } from '../../server/testing/http/balancer.ts'
import { endChild } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { childrenOf } from '../../server/testing/process/processes.ts'
import { copyDeployFile, programOf } from '../operations/deploy-file.ts'
import { debiansPostgres, giveToPostgres, postgresUser } from '../operations/own-postgres.ts'

export const PATIENTLY = { timeout: 200_000, interval: 100 }
const PASSWORD = 'the-product-of-a-test'
const PASSWORDS = {
  SUPERUSER_PASSWORD: 'superuser-of-a-test',
  REPLICATION_PASSWORD: 'replication-of-a-test',
  REWIND_PASSWORD: 'rewind-of-a-test',
  RESTAPI_PASSWORD: 'restapi-of-a-test',
}

type Member = { name: string; role: string; state: string; timeline?: number }
type Machine = Awaited<ReturnType<typeof prepareMachine>>

/** Starts three machines by the files of deploy/patroni, and HAProxy before them, for one test. */
export async function startPostgresCluster() {
  const folder = await folderForTest()
  await giveToPostgres(folder)
  const byte = () => 1 + Math.floor(Math.random() * 250)
  const network = `127.${byte()}.${byte()}.`
  const machines: Machine[] = []
  for (const number of [1, 2, 3]) machines.push(await prepareMachine(number, { folder, network }))
  for (const machine of machines) machine.startEtcd()
  for (const machine of machines) machine.startPatroni()
  const file = await copyDeployFile('patroni/haproxy.cfg', folder, [
    ['bind 127.0.0.1:', `bind ${network}1:`],
    ['10.0.0.', network],
  ])
  // In master-worker mode the worker ends with its master.
  const haproxy = spawn(await findBalancer(), ['-W', '-f', file], { stdio: 'ignore' })
  onTestFinished(() => endChild(haproxy))

  async function findPrimary(): Promise<Machine | undefined> {
    for (const machine of machines) {
      const answer = await fetch(machine.api('/primary')).catch(() => undefined)
      if (answer?.ok) return machine
    }
    return undefined
  }

  const primary = (): Promise<Machine> => vi.waitUntil(findPrimary, PATIENTLY)

  async function members(): Promise<Member[]> {
    const answer = await fetch((await primary()).api('/cluster')).catch(() => undefined)
    return answer?.ok ? (await answer.json()).members : []
  }

  const cluster = {
    machines,
    primary,

    primaryUrl: `postgresql://vslukh:${PASSWORD}@${network}1:5000/vslukh`,

    primaryOtherThan: (former: Machine) =>
      vi.waitUntil(async () => {
        const found = await findPrimary()
        return found !== former && found
      }, PATIENTLY),

    withoutPrimary: () => vi.waitUntil(async () => !(await findPrimary()), PATIENTLY),

    /** Resolves once all machines serve on one timeline and a standby confirms each commit. */
    settled: () =>
      vi.waitUntil(async () => {
        const all = await members()
        // Patroni 3.0 calls primary and standby “running”, later versions the standby “streaming”.
        const serving = all.filter(({ state }) => state === 'running' || state === 'streaming')
        const timelines = new Set(all.map(({ timeline }) => timeline))
        const isSynchronous = all.some(({ role }) => role === 'sync_standby')
        return serving.length === machines.length && timelines.size === 1 && isSynchronous
      }, PATIENTLY),

    /** Promotes the confirming standby, as `patronictl switchover` does. */
    async switchOver(): Promise<void> {
      const leader = await primary()
      const candidate = (await members()).find(({ role }) => role === 'sync_standby')?.name
      await leader.ask('/switchover', 'POST', { leader: leader.name, candidate })
      await cluster.primaryOtherThan(leader)
    },

    /** Sets whether a primary goes on while etcd is lost. Resolves once it has read it. */
    async setFailsafe(isOn: boolean): Promise<void> {
      const leader = await primary()
      await leader.ask('/config', 'PATCH', { failsafe_mode: isOn })
      const written = Date.now() / 1000
      await vi.waitUntil(async () => {
        const status = await (await fetch(leader.api('/patroni'))).json()
        return status.dcs_last_seen > written
      }, PATIENTLY)
    },
  }
  await cluster.settled()
  const superuser = `postgresql://postgres:${PASSWORDS.SUPERUSER_PASSWORD}@${network}1:5000/postgres`
  const role = `CREATE ROLE vslukh LOGIN PASSWORD '${PASSWORD}' IN ROLE pg_read_all_stats`
  await executeOn(superuser, role)
  await executeOn(superuser, 'CREATE DATABASE vslukh OWNER vslukh TEMPLATE template0')
  return cluster
}

type Place = { folder: string; network: string }

/** `network` has the first three bytes of all addresses. */
async function prepareMachine(number: number, { folder, network }: Place) {
  await debiansPostgres()
  const etcdProgram = await programOf('etcd-server', '/usr/bin/etcd')
  const patroniProgram = await programOf('patroni', '/usr/bin/patroni')
  const name = `db${number}`
  const address = `${network}1${number}`
  const own = join(folder, name)
  await mkdir(own)
  await giveToPostgres(own)
  const user = await postgresUser()
  const data = join(own, 'data')
  const etcdFile = await copyDeployFile('patroni/etcd.yml', own, [
    ['name: db1', `name: ${name}`],
    ['/var/lib/etcd/vslukh', join(own, 'etcd')],
    ['-urls: http://10.0.0.11', `-urls: http://${address}`],
    ['10.0.0.', network],
  ])
  const patroniFile = await copyDeployFile('patroni/patroni.yml', own, [
    ['name: db1', `name: ${name}`],
    ['/var/lib/postgresql/vslukh', data],
    ['/var/lib/postgresql/pgpass', join(own, 'pgpass')],
    ['/var/run/postgresql', own],
    // On loopback every connection comes from 127.0.0.1.
    ['10.0.0.0/24', '127.0.0.0/8'],
    ...Object.entries(PASSWORDS),
    ['listen: 10.0.0.11', `listen: ${address}`],
    ['connect_address: 10.0.0.11', `connect_address: ${address}`],
    ['10.0.0.', network],
  ])

  let etcd: ChildProcess | undefined
  let patroni: ChildProcess | undefined
  const start = (program: string, ...args: string[]) => {
    const log = openSync(join(own, 'log'), 'a')
    const env = { PATH: process.env.PATH, HOME: own, LC_ALL: 'C.UTF-8' }
    return spawn(program, args, { ...user, cwd: own, env, stdio: ['ignore', log, log] })
  }
  const api = (path: string) => `http://${address}:8008${path}`
  const machine = {
    name,
    api,
    async ask(path: string, method: string, body: object): Promise<void> {
      const login = Buffer.from(`patroni:${PASSWORDS.RESTAPI_PASSWORD}`).toString('base64')
      const headers = { authorization: `Basic ${login}` }
      const answer = await fetch(api(path), { method, headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(await answer.text())
    },
    startEtcd() {
      etcd = start(etcdProgram, '--config-file', etcdFile)
    },
    startPatroni() {
      patroni = start(patroniProgram, patroniFile)
    },
    killEtcd: () => endChild(etcd, 'SIGKILL'),
    /** Kills all but etcd at once, as when the machine loses its power. */
    async killDatabase(): Promise<void> {
      const pids = await postgresProcesses(data)
      const patroniGone = endChild(patroni, 'SIGKILL')
      for (const pid of pids) killProcess(pid)
      await patroniGone
    },
  }
  onTestFinished(async () => {
    await machine.killDatabase()
    await machine.killEtcd()
  })
  return machine
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

async function postgresProcesses(data: string): Promise<number[]> {
  const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const postmaster = Number(file.split('\n', 1)[0])
  // The file outlives a killed PostgreSQL, and its id may belong to another process by now.
  const command = await readFile(`/proc/${postmaster}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes(data)) return []
  return [postmaster, ...childrenOf(postmaster)]
}
