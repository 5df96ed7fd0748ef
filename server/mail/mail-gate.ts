import type { Pool } from 'pg'
import type { Db } from '../db/database.ts'
import { countInDatabase } from '../rate-limits/gcra.repository.ts'
import { countInMemory } from '../rate-limits/gcra.ts'
import { endPause, pauseMails, takeTry } from './login-pause.repository.ts'
import type { MailFailure } from './smtp.ts'

const HOUR = 3600
/** The share of the hour's mails that others may use, so that no flood of notices keeps people from signing in. */
const NOT_URGENT = 3 / 4
/** A mail that does not know when the hour's limit ends asks again after this: a clock may have been wrong. */
const LONGEST_WAIT_MS = 300_000

/** Whether a mail may be sent now, or what it waits for, and when to ask again: at the next try of the login, or after a time. */
export type Admission =
  | { isAdmitted: true; isProbe: boolean }
  | { isAdmitted: false; waitsFor: 'login' }
  | { isAdmitted: false; waitsFor: 'limit'; afterMs: number }

export type MailGate = {
  /** Asks for one mail. `isCounted`: it was admitted before, and counts as one mail however often it is tried. */
  admit(mail: { isUrgent: boolean; isCounted: boolean }): Promise<Admission>
  /** Notes how a conversation with the mail server ended, where that says something of the login. */
  noteLogin(login: MailFailure['login'], isProbe: boolean): Promise<void>
}

type Options = { db: Db; pool: Pool; mailsPerHour: number; onLimit: () => void }

/** Makes what all nodes share before a mail is sent: the pause after a refused login, and the mails of an hour. */
export function createMailGate({ db, pool, mailsPerHour, onLimit }: Options): MailGate {
  const pace = { burst: mailsPerHour, step: HOUR / mailsPerHour }
  const mails = countInDatabase(pool, pace, () => 'mails')
  const trips = countInMemory({ burst: 1, step: HOUR })

  /** Counts a mail. Returns 0, or the seconds to wait. */
  async function charge(isUrgent: boolean): Promise<number> {
    const wait = await mails.charge('', isUrgent ? 1 : NOT_URGENT)
    if (wait > 0 && isUrgent && trips.charge('') === 0) onLimit()
    return wait
  }

  return {
    async admit({ isUrgent, isCounted }) {
      const { isPaused, isProbe } = await takeTry(db)
      if (isPaused) return { isAdmitted: false, waitsFor: 'login' }
      const wait = isCounted ? 0 : await charge(isUrgent)
      if (wait === 0) return { isAdmitted: true, isProbe }
      const afterMs = Math.min(wait * 1000, LONGEST_WAIT_MS)
      return { isAdmitted: false, waitsFor: 'limit', afterMs }
    },
    async noteLogin(login, isProbe) {
      if (login === 'refused') await pauseMails(db)
      else if (login === 'accepted' && isProbe) await endPause(db)
    },
  }
}
