import type { FastifyBaseLogger } from 'fastify'
import { countWaiting } from './features/moderation/queue.repository.ts'
import type { Config } from './kernel/config/config.ts'
import { watchClock } from './kernel/db/clock.ts'
import type { OpenDatabase } from './kernel/db/database.ts'
import { selectBackupState } from './operations/backup/backup-state.repository.ts'
import { watchHealth } from './operations/doctor/doctor.service.ts'
import { readWallHealth } from './operations/doctor/health.service.ts'
import type { Metrics } from './operations/metrics/metrics.ts'

type Options = {
  config: Config
  /** The pool of requests, whose state the metrics show. */
  database: OpenDatabase
  /** The pool of jobs, by which the hourly checks ask. */
  background: OpenDatabase
  /** Absent where METRICS_PORT is unset. */
  metrics: Metrics | undefined
  log: FastifyBaseLogger
}

/** Watches the clock and the wall's health, and serves the metrics where they are wanted. Returns the function that stops it. */
export async function watchWall(options: Options): Promise<() => void> {
  const { config, database, background, log } = options
  const unwatchClock = watchClock(database.db, log)
  const unwatchHealth = watchHealth({ db: background.db, config }, { log })
  const stopMetrics = await serveMetrics(options)
  return () => {
    unwatchClock()
    unwatchHealth()
    stopMetrics()
  }
}

async function serveMetrics({ metrics, config, database }: Options): Promise<() => void> {
  const { metricsPort: port, metricsHost: host, dataDir, backupDir } = config
  if (metrics === undefined || port === undefined) return () => {}
  const { db } = database
  return metrics.serve(
    { port, host },
    {
      database,
      dataDir,
      readWallHealth: () => readWallHealth(db),
      countReports: () => countWaiting(db),
      readBackups: () => selectBackupState(db),
      isBackedUpNightly: backupDir !== undefined,
    },
  )
}
