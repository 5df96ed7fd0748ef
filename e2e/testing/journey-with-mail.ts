import { openMailbox } from '../../server/testing/mailbox.ts'
import { DESKTOP, startJourney, type Visit } from './journey.ts'

export type JourneyWithMail = Awaited<ReturnType<typeof startJourneyWithMail>>

/** Starts a journey with a real SMTP server; `env` configures the product. The caller closes it. */
export async function startJourneyWithMail(env: Record<string, string> = {}) {
  const mailbox = await openMailbox()
  const journey = await startJourney({ SMTP_URL: mailbox.url, ...env })
  const mailsRead = new Map<string, number>()

  function nextCode(email: string): Promise<string> {
    const count = (mailsRead.get(email) ?? 0) + 1
    mailsRead.set(email, count)
    return mailbox.codeFor(email, count)
  }

  return {
    ...journey,
    mailbox,
    nextCode,

    async rows(statement: string, values: unknown[] = []) {
      return (await journey.sql.query(statement, values)).rows
    },

    /** Registers an unknown e-mail. The mail with the code counts as read. */
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
