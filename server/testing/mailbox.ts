import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { listen } from './free-port.ts'

export type ReceivedMail = {
  to: string
  subject: string
  text: string
  /** The header Auto-Submitted. */
  autoSubmitted: string | undefined
  /** All bytes of the mail, as Latin-1. */
  source: string
}

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>

const CODE = /^\d{6} /

/**
 * Opens a real SMTP server on loopback that stores its mails, by default at a free port. It refuses
 * mails to some addresses for good.
 */
export async function openMailbox(port = 0, refuses = (_address: string) => false) {
  const mails: ReceivedMail[] = []
  let arrived = Promise.withResolvers<void>()

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, done) {
      const refusal = Object.assign(new Error('5.1.1 no such mailbox'), { responseCode: 550 })
      done(refuses(address) ? refusal : null)
    },
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
  const ownPort = await listen(server.server, port)

  async function nextOf(isWanted: (mail: ReceivedMail) => boolean, count: number) {
    for (;;) {
      const found = mails.filter(isWanted)
      const newest = found.at(-1)
      if (newest && found.length >= count) return newest
      await arrived.promise
    }
  }

  /** Waits until `count` such mails have arrived. Returns the newest one. */
  const mailAbout = (address: string, about: RegExp, count = 1) =>
    nextOf(({ to, subject }) => to === address && about.test(subject), count)

  return {
    mails,
    url: `smtp://127.0.0.1:${ownPort}`,

    mailTo: (address: string, count = 1) => nextOf(({ to }) => to === address, count),

    mailAbout,

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
