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
  /** All its bytes, as Latin-1. */
  source: string
}

/** A real SMTP server on loopback that stores the mails it receives. */
export type Mailbox = Awaited<ReturnType<typeof openMailbox>>

/** How the subject of a mail with a code begins. */
const CODE = /^\d{6} /

/** Opens a mailbox at a port, by default at a free one. */
export async function openMailbox(port = 0) {
  const mails: ReceivedMail[] = []
  let arrived = Promise.withResolvers<void>()

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      buffer(stream)
        .then(readMail)
        .then((mail) => {
          const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
          mails.push({ to, ...mail })
          done()
          arrived.resolve()
          arrived = Promise.withResolvers()
        }, done)
    },
  })
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')

  async function nextOf(isWanted: (mail: ReceivedMail) => boolean, count: number) {
    for (;;) {
      const found = mails.filter(isWanted)
      const newest = found.at(-1)
      if (newest && found.length >= count) return newest
      await arrived.promise
    }
  }

  /** Waits until `count` mails to an address with such a subject have arrived. Returns the newest one. */
  const mailAbout = (address: string, about: RegExp, count = 1) =>
    nextOf(({ to, subject }) => to === address && about.test(subject), count)

  return {
    mails,
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,

    /** Waits until `count` mails to an address have arrived. Returns the newest one. */
    mailTo: (address: string, count = 1) => nextOf(({ to }) => to === address, count),

    mailAbout,

    /** Waits likewise for mails with codes, and returns the code in the newest. */
    async codeFor(address: string, count = 1): Promise<string> {
      return (await mailAbout(address, CODE, count)).subject.slice(0, 6)
    },

    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

async function readMail(bytes: Buffer): Promise<Omit<ReceivedMail, 'to'>> {
  const { subject = '', text = '', headers } = await PostalMime.parse(bytes)
  const automatic = headers.find(({ key }) => key === 'auto-submitted')
  return { subject, text, autoSubmitted: automatic?.value, source: bytes.toString('latin1') }
}
