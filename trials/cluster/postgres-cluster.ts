import { spawn } from 'node:child_process'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endChild } from '../../server/testing/child-process.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { readDeployFile } from '../operations/deploy-file.ts'
import { postgresUser } from '../operations/own-postgres.ts'
import { inNetwork, type Machine, PASSWORDS, prepareMachine } from './machine.ts'
import type { Programs } from './programs.ts'

const PASSWORD = 'the-product-of-a-test'

type Member = {
  name: string
  role: string
  state: string
  timeline?: number
  lag?: number | string
}

/**
 * Starts three machines with etcd, Patroni and PostgreSQL by the files of deploy/patroni, and
 * HAProxy before them. Resolves when a standby confirms commits and the database is there. The
 * caller closes the cluster.
 */
export async function startPostgresCluster(programs: Programs) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-cluster-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  await giveToPostgres(folder)
  const byte = () => 1 + Math.floor(Math.random() * 250)
  const network = `127.${byte()}.${byte()}.`
  const machines: Machine[] = []
  for (const number of [1, 2, 3]) {
    const own = join(folder, `db${number}`)
    await mkdir(own)
    await giveToPostgres(own)
    const machine = await prepareMachine({ number, network, folder: own, programs })
    started.defer(() => machine.close())
    machines.push(machine)
  }
  for (const machine of machines) machine.startEtcd()
  for (const machine of machines) machine.startPatroni()
  const balancer = await startBalancer({ programs, folder, network })
  started.defer(balancer.close)

  async function members(): Promise<Member[]> {
    for (const { address } of machines) {
      const answer = await fetch(`http://${address}:8008/cluster`).catch(() => undefined)
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
    }
    return []
  }

  async function find(role: string): Promise<Member | undefined> {
    return (await members()).find((member) => member.role === role && isServing(member))
  }

  const machineNamed = (name: string) => {
    const found = machines.find((machine) => machine.name === name)
    if (!found) throw new Error(`No machine is named ${name}`)
    return found
  }

  const cluster = {
    machines,
    /** Leads to the primary, through HAProxy. */
    primaryUrl: urlAt(`${network}1:5000`),

    async primary(): Promise<Machine> {
      for (;;) {
        const leader = await find('leader')
        if (leader) return machineNamed(leader.name)
        await delay(100)
      }
    },

    async primaryOtherThan({ name }: Machine): Promise<void> {
      while ((await cluster.primary()).name === name) await delay(100)
    },

    /**
     * Resolves once all machines serve on one timeline and a standby confirms each commit, so that
     * no fault may lose anything.
     */
    async settled(): Promise<void> {
      for (;;) {
        const all = await members()
        const timelines = new Set(all.map(({ timeline }) => timeline))
        const areServing = all.length === machines.length && all.every(isServing)
        const isSynchronous = all.some(({ role }) => role === 'sync_standby')
        if (areServing && timelines.size === 1 && isSynchronous) return
        await delay(200)
      }
    },

    /** Promotes the confirming standby, as an operator does with `patronictl switchover`. */
    async switchOver(): Promise<void> {
      const [{ name: leader, address }, candidate] = [
        await this.primary(),
        await find('sync_standby'),
      ]
      const body = JSON.stringify({ leader, candidate: candidate?.name })
      const answer = await fetch(`http://${address}:8008/switchover`, { method: 'POST', body })
      if (!answer.ok) throw new Error(await answer.text())
    },

    /** Resolves once no machine reports that it is the primary. */
    async withoutPrimary(): Promise<void> {
      const isPrimary = async ({ address }: Machine) => {
        const answer = await fetch(`http://${address}:8008/primary`).catch(() => undefined)
        return answer?.ok === true
      }
      while ((await Promise.all(machines.map(isPrimary))).includes(true)) await delay(100)
    },

    /**
     * Sets whether a primary goes on while etcd is lost. Resolves once the primary has read it.
     */
    async setFailsafe(isOn: boolean): Promise<void> {
      const { address } = await this.primary()
      const body = JSON.stringify({ failsafe_mode: isOn })
      const answer = await fetch(`http://${address}:8008/config`, { method: 'PATCH', body })
      if (!answer.ok) throw new Error(await answer.text())
      const written = Date.now() / 1000
      const seen = async () => {
        const status = await fetch(`http://${address}:8008/patroni`)
        return ((await status.json()) as { dcs_last_seen: number }).dcs_last_seen
      }
      while ((await seen()) <= written) await delay(100)
    },

    close: () => running.disposeAsync(),
  }
  await cluster.settled()
  await createDatabase(`${network}1:5000`)
  const running = started.move()
  return cluster
}

/** Patroni 3.0 calls primary and standby “running”, later versions the standby “streaming”. */
function isServing({ state }: Member): boolean {
  return state === 'running' || state === 'streaming'
}

function urlAt(address: string): string {
  return `postgresql://vslukh:${PASSWORD}@${address}/vslukh`
}

async function createDatabase(address: string): Promise<void> {
  const password = PASSWORDS.SUPERUSER_PASSWORD
  const url = `postgresql://postgres:${password}@${address}/postgres`
  await executeOn(url, `CREATE ROLE vslukh LOGIN PASSWORD '${PASSWORD}' IN ROLE pg_read_all_stats`)
  await executeOn(url, 'CREATE DATABASE vslukh OWNER vslukh TEMPLATE template0')
}

async function giveToPostgres(folder: string): Promise<void> {
  const { uid, gid } = await postgresUser()
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
}

async function startBalancer({
  programs,
  folder,
  network,
}: {
  programs: Programs
  folder: string
  network: string
}) {
  const file = join(folder, 'haproxy.cfg')
  const places: [string, string][] = [
    ['bind 127.0.0.1:', `bind ${network}1:`],
    ...inNetwork(network),
  ]
  await writeFile(file, await readDeployFile('patroni/haproxy.cfg', places))
  // In master-worker mode the worker ends with its master.
  const haproxy = spawn(programs.haproxy, ['-W', '-f', file], { stdio: 'ignore' })
  return {
    async close(): Promise<void> {
      if (haproxy.exitCode !== null) throw new Error('HAProxy did not run')
      await endChild(haproxy)
    },
  }
}
