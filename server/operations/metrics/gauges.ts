import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from '@prometheus-io/client'
import { countWaiting } from '../../features/moderation/queue.repository.ts'
import { readMailName } from '../../features/site-state/mail-name.service.ts'
import { clockSkew } from '../../kernel/db/clock.ts'
import type { Db, OpenDatabase } from '../../kernel/db/database.ts'
import { mailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { selectBackupState } from '../backup/backup-state.repository.ts'
import { selectDatabaseFacts } from '../doctor/doctor.repository.ts'

export type GaugeSources = {
  database: OpenDatabase
  dataDir: string
  countStreams: () => number
  /** Whether a backup is made each night, so that its failures are shown. */
  isBackedUpNightly: boolean
}

/**
 * Adds gauges that are read by each scrape. While the database does not answer,
 * `vslukh_database_up` is 0 and its gauges are absent, so that no alert judges old numbers.
 */
export function addGauges(registry: Registry, sources: GaugeSources): { update(): Promise<void> } {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `vslukh_${name}`, help, registers: [registry] })
  const up = gauge('database_up', 'Whether the database answers')
  const pool = {
    total: gauge('database_connections', 'Connections of the pool for requests'),
    idle: gauge('database_connections_idle', 'Those that nobody uses'),
    waiting: gauge('database_waiting', 'Queries that wait for a connection'),
  }
  const free = gauge('disk_free_bytes', 'Free bytes on the disk with DATA_DIR')
  const size = gauge('disk_bytes', 'Bytes of that disk, used or free')
  const streams = gauge('streams', 'Open pages of browsers that are told what is new')
  const read = readFromDatabase(gauge, sources)
  return {
    async update() {
      const { totalCount, idleCount, waitingCount } = sources.database.pool
      pool.total.set(totalCount)
      pool.idle.set(idleCount)
      pool.waiting.set(waitingCount)
      streams.set(sources.countStreams())
      const disk = await statfs(sources.dataDir).catch(() => undefined)
      if (disk) {
        free.set(disk.bavail * disk.bsize)
        size.set(disk.blocks * disk.bsize)
      } else for (const one of [free, size]) one.remove()
      up.set((await read()) ? 1 : 0)
    },
  }
}

function readFromDatabase(
  gauge: (name: string, help: string) => Gauge,
  { database: { db }, isBackedUpNightly }: GaugeSources,
) {
  const gauges: Partial<Record<keyof Awaited<ReturnType<typeof readValues>>, Gauge>> = {
    query: gauge('database_query_seconds', 'How long the scrape’s query of the clock took'),
    skew: gauge('clock_skew_seconds', 'By how much this clock is ahead of the database’s'),
    waiting: gauge('mails_waiting', 'Mails in the queue'),
    failing: gauge('mails_failing', 'Those that were tried before'),
    oldestMail: gauge('mail_oldest_seconds', 'For how long the oldest of them waits'),
    failingMail: gauge('mail_failing_seconds', 'For how long no mail has left; 0 while they leave'),
    refused: gauge('codes_refused', 'Codes to mailboxes that do not exist, in an hour'),
    refusedNetworks: gauge('codes_refused_networks', 'The networks that asked for them'),
    slowed: gauge('new_address_mails_slowed', 'Whether codes to new addresses are slowed for that'),
    reports: gauge('reports_open', 'Open reports'),
    oldestReport: gauge('report_oldest_seconds', 'For how long the oldest of them is open'),
    differences: gauge('counter_differences', 'Counters that differed at the last check'),
    nodes: gauge('nodes', 'Nodes that are connected to the database'),
    backup: gauge('backup_age_seconds', 'Seconds since the last backup; absent before the first'),
    ...(isBackedUpNightly && {
      failed: gauge('backup_failed', 'Whether the last nightly backup or its command failed'),
      unverified: gauge('backup_verification_failed', 'Whether the last verification failed'),
    }),
  }
  return async (): Promise<boolean> => {
    const values = await readValues(db).catch(() => undefined)
    for (const [name, one] of Object.entries(gauges)) {
      const value = values?.[name as keyof typeof gauges] ?? null
      // A gauge begins at 0, which would look like a backup of this second.
      if (value === null) one.remove()
      else one.set(Number(value))
    }
    return values !== undefined
  }
}

/** Null where there is nothing to show. */
async function readValues(db: Db) {
  const since = (at: Date | null) => at && (Date.now() - at.getTime()) / 1000
  const began = performance.now()
  const skew = (await clockSkew(db)) / 1000
  const query = (performance.now() - began) / 1000
  const { counter_differences: differences, nodes } = await selectDatabaseFacts(db)
  const mails = await mailHealth(db)
  const { refused, networks: refusedNetworks, isSlowed: slowed } = await readMailName(db)
  const { reports, oldest } = await countWaiting(db)
  const { at, failed, commandFailed, verificationFailed } = await selectBackupState(db)
  return {
    ...{ query, skew, nodes, refused, refusedNetworks, slowed, reports },
    differences: differences ?? 0,
    waiting: mails.waiting,
    failing: mails.failing,
    oldestMail: mails.oldestSeconds,
    failingMail: since(mails.failingSince) ?? 0,
    oldestReport: since(oldest) ?? 0,
    backup: since(at),
    failed: (failed ?? commandFailed) !== null,
    unverified: verificationFailed !== null,
  }
}
