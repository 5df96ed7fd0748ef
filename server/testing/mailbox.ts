import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type ReceivedMail = {
  to: string
  subject: string
  text: string
  /** The header Auto-Submitted. */
  autoSubmitted: string | undefined
}

/** A real SMTP server on loopback that stores the mails it receives. */
export type Mailbox = Awaited<ReturnType<typeof openMailbox>>

/** Opens a mailbox at a port, by default at a free one. */
export async function openMailbox(port = 0) {
  const mails: ReceivedMail[] = []
  let arrived = Promise.withResolvers<void>()

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      buffer(stream)
        .then(PostalMime.parse)
        .then(({ subject = '', text = '', headers }) => {
          const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
          const automatic = headers.find(({ key }) => key === 'auto-submitted')
          mails.push({ to, subject, text, autoSubmitted: automatic?.value })
          done()
          arrived.resolve()
          arrived = Promise.withResolvers()
        }, done)
    },
  })
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')

  return {
    mails,
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,

    /** Waits until `count` mails to an address have arrived. Returns the newest one. */
    async mailTo(address: string, count = 1): Promise<ReceivedMail> {
      for (;;) {
        const found = mails.filter(({ to }) => to === address)
        const newest = found.at(-1)
        if (newest && found.length >= count) return newest
        await arrived.promise
      }
    },

    /** Waits likewise, and returns the code in the newest mail. */
    async codeFor(address: string, count = 1): Promise<string> {
      const { subject } = await this.mailTo(address, count)
      return subject.slice(0, 6)
    },

    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
