import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { readMailReputation } from '../../features/site-state/mail-reputation.service.ts'
import { type Config, usesDataDir } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { dkimPublicKey } from '../../kernel/mail/dkim.ts'
import { readMailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { selectBackupState } from '../backup/backup-state.repository.ts'
import { readSecret } from '../start/installation.ts'
import { checkBackupCommand, checkBackups } from './backup-check.ts'
import {
  checkClock,
  checkCollation,
  checkConnections,
  checkCounters,
  checkJobs,
  checkNodes,
  checkPooler,
  checkRights,
  checkSecret,
  checkSiteClosed,
  reportVersions,
} from './database-checks.ts'
import { checkBackupDisk, checkDisk } from './disk-check.ts'
import { selectDailyGrowth, selectDatabaseFacts, selectJobFacts } from './doctor.repository.ts'
import { broken, type CheckResult, type Finding, findingsOf, type Level } from './finding.ts'
import { questionHeader } from './identity.ts'
import { checkMailDomain, checkMailQueue, checkMailReputation, checkSmtp } from './mail-checks.ts'
import { checkParts } from './parts.ts'
import { checkRelease, readOwnRelease } from './release.ts'
import { checkPages, checkSettings, checkUnit } from './settings-checks.ts'
import { checkFormerUrls, checkSite } from './site-checks.ts'

export type DoctorContext = { db: Db; config: Config }

const DNS = { timeout: 2000, tries: 1 }

/** Runs all checks, in the order in which an operator would repair the faults. */
export async function examine(context: DoctorContext): Promise<Finding[]> {
  const { db, config } = context
  const secret = await checkSecret(db, config)
  const { database, use } = await examineCheaply(context)
  return [
    ...(await findingsOf({
      settings: checkSettings(config),
      unit: checkUnit(),
      pages: checkPages(config),
    })),
    ...database,
    ...(await findingsOf({ pooler: checkPooler(config) })),
    ...(secret.level === 'broken' ? [] : await checkSite(config, await questionHeader(db, config))),
    ...(await findingsOf({ 'former urls': checkFormerUrls(config) })),
    ...(await findingsOf({ smtp: checkSmtp(config), 'mail domain': checkOwnDomain(config) })),
    ...use,
    { check: 'secret', ...secret },
  ]
}

async function checkOwnDomain({ mailFrom, dkim }: Config): Promise<CheckResult> {
  const signed = dkim && {
    selector: dkim.selector,
    // A file without a key is not reported here, because the server does not start with it.
    publicKey: await readFile(dkim.keyFile, 'utf8')
      .then(dkimPublicKey)
      .catch(() => undefined),
  }
  return checkMailDomain(mailFrom, { resolver: new Resolver(DNS), dkim: signed })
}

/** Runs the checks that need only the database and the disk. */
export async function examineCheaply({ db, config }: DoctorContext) {
  const facts = await selectDatabaseFacts(db)
  const dataDir = usesDataDir(config) ? config.dataDir : undefined
  const { backupDir } = config
  const backups = await selectBackupState(db)
  // A secret that cannot be read is reported by `checkSecret`.
  const secret = await readSecret(db, config).catch(() => undefined)
  const jobs = await selectJobFacts(db)
  const isEmbedded = config.databaseUrl === undefined
  const isBehindPooler = config.databaseDirectUrl !== undefined
  return {
    database: await findingsOf({
      versions: reportVersions(facts),
      release: checkRelease(await readOwnRelease()),
      parts: checkParts({ postgres: facts.postgres, node: process.versions.node, isEmbedded }),
      nodes: checkNodes(facts),
      database: checkRights(facts),
      collation: checkCollation(facts),
      connections: checkConnections(db, { nodes: facts.nodes, isBehindPooler }),
      clock: checkClock(db),
    }),
    use: await findingsOf({
      mails: checkMailQueue(await readMailHealth(db)),
      'refused mails': checkMailReputation(await readMailReputation(db)),
      disk:
        dataDir === undefined ? undefined : await checkDisk(dataDir, await selectDailyGrowth(db)),
      'backup disk': backupDir === undefined ? undefined : checkBackupDisk(backupDir, dataDir),
      backup: checkBackups(backups, { folder: backupDir, secret }),
      'backup command': config.backupCommand && checkBackupCommand(backups),
      counters: checkCounters(facts),
      jobs: checkJobs(jobs),
      open: checkSiteClosed(db),
    }),
  }
}

const HOUR_MS = 3_600_000
/** The delay of the first check: right after a start, older mails and jobs are still processed. */
const FIRST_MS = 60_000

type Watch = {
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>
  /** Called when a check finds something broken that it did not find before. */
  onBroken?: (finding: Finding) => Promise<void>
  firstMs?: number
  everyMs?: number
}

/**
 * Runs the cheap checks a minute after the start and each hour. A finding is logged when its level
 * changes, so that a lasting fault is logged once; of the warnings that the first check finds, which
 * are mostly those before the start, one line has the names. Returns the function that stops it.
 */
export function watchHealth(
  context: DoctorContext,
  { log, onBroken = async () => {}, firstMs = FIRST_MS, everyMs = HOUR_MS }: Watch,
): () => void {
  const levels = new Map<string, Level>()
  let isFirst = true
  async function check(): Promise<void> {
    const isAtStart = isFirst
    const findings = await examineCheaply(context).then(
      ({ database, use }) => {
        isFirst = false
        return [...database, ...use]
      },
      (error) => {
        const fix = 'Проверьте, отвечает ли база данных'
        return findingsOf({ database: broken(`не проверено: ${whyFailed(error)}`, fix) })
      },
    )
    const warnings = findings.filter(({ level }) => level === 'warning').map((it) => it.check)
    if (isAtStart && warnings.length > 0) log.info({ checks: warnings }, 'the doctor warns')
    for (const finding of findings) {
      const { level, ...facts } = finding
      const before = levels.get(facts.check) ?? 'ok'
      levels.set(facts.check, level)
      if (level === before || (isAtStart && level === 'warning')) continue
      // The log uses the field `level` itself, so the level of the finding is named `state`.
      const line = { ...facts, state: level }
      const message = isAtStart
        ? 'the doctor has found a fault'
        : 'the doctor’s finding has changed'
      log[level === 'ok' ? 'info' : 'warn'](line, message)
      if (level === 'broken') await onBroken(finding)
    }
  }
  const stopping = new AbortController()
  const options = { signal: stopping.signal, ref: false }
  const watch = async () => {
    for (let ms = firstMs; ; ms = everyMs) {
      await delay(ms, undefined, options)
      await check()
    }
  }
  void watch().catch(() => {})
  return () => stopping.abort()
}
