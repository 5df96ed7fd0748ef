import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from '@prometheus-io/client'
import { countWaiting } from '../../features/moderation/queue.repository.ts'
import { readMailReputation } from '../../features/site-state/mail-reputation.service.ts'
import { measureClockSkew } from '../../kernel/db/clock.ts'
import type { OpenDatabase } from '../../kernel/db/database.ts'
import { readMailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { selectBackupState } from '../backup/backup-state.repository.ts'
import { selectDatabaseFacts } from '../doctor/doctor.repository.ts'

export type GaugeSources = {
  database: OpenDatabase
  dataDir: string
  countStreams: () => number
  /** Whether a backup is made each night, so that its failures are shown. */
  isBackedUpNightly: boolean
}

/** The help of each gauge, by its name without `vslukh_`. */
const GAUGES = {
  database_up: 'Whether the database answers',
  database_connections: 'Connections of the pool for requests',
  database_connections_idle: 'Those that nobody uses',
  database_waiting: 'Queries that wait for a connection',
  disk_free_bytes: 'Free bytes on the disk with DATA_DIR',
  disk_bytes: 'Bytes of that disk, used or free',
  streams: 'Open pages of browsers that are told what is new',
  database_query_seconds: 'How long the scrape’s query of the clock took',
  clock_skew_seconds: 'By how much this clock is ahead of the database’s',
  mails_waiting: 'Mails in the queue',
  mails_failing: 'Those that were tried before',
  mail_oldest_seconds: 'For how long the oldest of them waits',
  mail_failing_seconds: 'For how long no mail has left; 0 while they leave',
  codes_refused: 'Codes to mailboxes that do not exist, in an hour',
  codes_refused_networks: 'The networks that asked for them',
  new_address_mails_slowed: 'Whether codes to new addresses are slowed for that',
  reports_open: 'Open reports',
  report_oldest_seconds: 'For how long the oldest report or appeal waits',
  counter_differences: 'Counters that differed at the last check',
  nodes: 'Nodes that are connected to the database',
  backup_age_seconds: 'Seconds since the last backup; absent before the first',
  backup_failed: 'Whether the last nightly backup or its command failed',
  backup_verification_failed: 'Whether the last verification failed',
}

type Values = Partial<Record<keyof typeof GAUGES, number | boolean | null>>

/**
 * Registers the gauges. Returns the function that updates them. While the database does not answer,
 * `vslukh_database_up` is 0 and its gauges are absent, so that no alert judges old numbers.
 */
export function addGauges(registry: Registry, sources: GaugeSources): () => Promise<void> {
  const gauges = Object.entries(GAUGES).map(([name, help]) => {
    const gauge = new Gauge({ name: `vslukh_${name}`, help, registers: [registry] })
    return [name as keyof Values, gauge] as const
  })
  return async () => {
    const values: Values = {
      ...(await readMachine(sources)),
      ...(await readDatabase(sources).catch(() => ({ database_up: false }))),
    }
    for (const [name, gauge] of gauges) {
      const value = values[name] ?? null
      // A new gauge is 0, which would look like a backup made just now.
      if (value === null) gauge.remove()
      else gauge.set(Number(value))
    }
  }
}

async function readMachine({ database, dataDir, countStreams }: GaugeSources): Promise<Values> {
  const disk = await statfs(dataDir).catch(() => undefined)
  return {
    database_connections: database.pool.totalCount,
    database_connections_idle: database.pool.idleCount,
    database_waiting: database.pool.waitingCount,
    disk_free_bytes: disk ? disk.bavail * disk.bsize : null,
    disk_bytes: disk ? disk.blocks * disk.bsize : null,
    streams: countStreams(),
  }
}

async function readDatabase({ database, isBackedUpNightly }: GaugeSources): Promise<Values> {
  const { db } = database
  const since = (at: Date | null) => at && (Date.now() - at.getTime()) / 1000
  const began = performance.now()
  const skewMs = await measureClockSkew(db)
  const queryMs = performance.now() - began
  const { counter_differences, nodes } = await selectDatabaseFacts(db)
  const mails = await readMailHealth(db)
  const codes = await readMailReputation(db)
  const { reports, oldest } = await countWaiting(db)
  const backup = await selectBackupState(db)
  return {
    database_up: true,
    database_query_seconds: queryMs / 1000,
    clock_skew_seconds: skewMs / 1000,
    mails_waiting: mails.waiting,
    mails_failing: mails.failing,
    mail_oldest_seconds: mails.oldestSeconds,
    mail_failing_seconds: since(mails.failingSince) ?? 0,
    codes_refused: codes.refused,
    codes_refused_networks: codes.networks,
    new_address_mails_slowed: codes.isSlowed,
    reports_open: reports,
    report_oldest_seconds: since(oldest) ?? 0,
    counter_differences: counter_differences ?? 0,
    nodes,
    backup_age_seconds: since(backup.at),
    ...(isBackedUpNightly && {
      backup_failed: (backup.failed ?? backup.commandFailed) !== null,
      backup_verification_failed: backup.verificationFailed !== null,
    }),
  }
}
