import type { Page } from 'playwright-core'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { DESKTOP, openStage } from './stage.ts'

/** A stage whose mails arrive: codes are read from them, as a person does. */
export type Site = Awaited<ReturnType<typeof openSite>>

/** Opens a stage with a real SMTP server beside it; `env` configures the product. The caller closes it. */
export async function openSite(env: Record<string, string> = {}) {
  const mailbox = await openMailbox()
  const stage = await openStage({ SMTP_URL: mailbox.url, ...env })
  const taken = new Map<string, number>()

  /** The code of the next mail to an address, one that was not taken before: waits for it. */
  function nextCode(email: string): Promise<string> {
    const count = (taken.get(email) ?? 0) + 1
    taken.set(email, count)
    return mailbox.codeFor(email, count)
  }

  return {
    ...stage,
    mailbox,
    nextCode,

    /** Runs a statement on the product's database and gives its rows. */
    async rows(statement: string, values: unknown[] = []) {
      return (await stage.sql.query(statement, values)).rows
    },

    /** Signs in by the API, registering where the e-mail is unknown; its mail counts as taken. */
    async signIn(...args: Parameters<typeof stage.signIn>) {
      const user = await stage.signIn(...args)
      await nextCode(user.email)
      return user
    },

    async signUp() {
      const user = await stage.signUp()
      await nextCode(user.email)
      return user
    },

    /** A page on a wide screen, in a browser of its own. */
    visit: (visit: Parameters<typeof stage.visit>[0] = {}) =>
      stage.visit({ viewport: DESKTOP, ...visit }),

    async close(): Promise<void> {
      await stage.close()
      await mailbox.close()
    },
  }
}

/** How often the page sends a request whose method and path match, from now on. */
export function countRequests(page: Page, method: string, path: RegExp): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.method() === method && path.test(request.url())) count++
  })
  return () => count
}
