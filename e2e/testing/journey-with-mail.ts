import { openMailbox } from '../../server/testing/mailbox.ts'
import { DESKTOP, startJourney, type Visit } from './journey.ts'

/** A journey whose codes are read from mails. */
export type JourneyWithMail = Awaited<ReturnType<typeof startJourneyWithMail>>

/**
 * Starts a journey with a real SMTP server beside it, on a wide screen by default; `env` configures the product. The caller
 * closes it.
 */
export async function startJourneyWithMail(env: Record<string, string> = {}) {
  const mailbox = await openMailbox()
  const journey = await startJourney({ SMTP_URL: mailbox.url, ...env })
  const mailsRead = new Map<string, number>()

  /** Waits for the next mail to an address and returns its code. */
  function nextCode(email: string): Promise<string> {
    const count = (mailsRead.get(email) ?? 0) + 1
    mailsRead.set(email, count)
    return mailbox.codeFor(email, count)
  }

  return {
    ...journey,
    mailbox,
    nextCode,

    /** Runs a statement on the product's database and returns its rows. */
    async rows(statement: string, values: unknown[] = []) {
      return (await journey.sql.query(statement, values)).rows
    },

    /** Signs in by the API, registering where the e-mail is unknown; its mail counts as read. */
    async signIn(...args: Parameters<typeof journey.signIn>) {
      const user = await journey.signIn(...args)
      await nextCode(user.email)
      return user
    },

    async signUp() {
      const user = await journey.signUp()
      await nextCode(user.email)
      return user
    },

    visit: (visit: Visit = {}) => journey.visit({ viewport: DESKTOP, ...visit }),

    async close(): Promise<void> {
      await journey.close()
      await mailbox.close()
    },
  }
}
