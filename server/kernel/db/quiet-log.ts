import { isDatabaseUnavailable } from './database-errors.ts'
import type { Outage } from './outage.ts'

type JobsLog = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>

/** Returns a log that leaves out errors which the log lines of an outage cover. */
export function quietDuringOutages(
  log: JobsLog,
  outage: Pick<Outage, 'reportFailure' | 'isSuspected'>,
) {
  return {
    debug: (facts: object, message: string) => log.debug(facts, message),
    info: (facts: object, message: string) => log.info(facts, message),
    warn({ err, ...facts }: { err?: Error }, message: string): void {
      if (err && outage.reportFailure(err)) return
      log.warn({ ...facts, ...causeOf(err) }, message)
    },
    error({ err, ...facts }: { err?: Error }, message: string): void {
      const isLost = err ? outage.reportFailure(err) : outage.isSuspected()
      if (!isLost) log.error({ ...facts, ...causeOf(err) }, message)
    },
  }
}

/** Returns an error for the log: without its stack, if the database cannot serve. */
const causeOf = (err: Error | undefined) =>
  err && isDatabaseUnavailable(err) ? { reason: err.message } : { err }
