import type { Pool } from 'pg'
import type { Db } from '../db/database.ts'
import { endPause, pauseMails, takeTry } from './login-pause.repository.ts'
import { limitMailsPerHour } from './mails-per-hour.ts'
import type { MailFailure } from './smtp.ts'

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
  const charge = limitMailsPerHour({ pool, most: mailsPerHour, onTripped: onLimit })
  return {
    async admit({ isUrgent, isCounted }) {
      const { isPaused, isProbe } = await takeTry(db)
      if (isPaused) return { isAdmitted: false, waitsFor: 'login' }
      const waitMs = isCounted ? 0 : await charge(isUrgent)
      if (waitMs === 0) return { isAdmitted: true, isProbe }
      return { isAdmitted: false, waitsFor: 'limit', afterMs: Math.min(waitMs, LONGEST_WAIT_MS) }
    },
    async noteLogin(login, isProbe) {
      if (login === 'refused') await pauseMails(db)
      else if (login === 'accepted' && isProbe) await endPause(db)
    },
  }
}
