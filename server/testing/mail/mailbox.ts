import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { closeAfterTest } from '../close-after-test.ts'
import { listen } from '../process/free-port.ts'

export type ReceivedMail = Awaited<ReturnType<typeof readMail>>

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>

type Refusal = {
  /** For example 451 (temporarily) or 550 (permanently). */
  code: number
  /** The text after the code, such as an enhanced status code and words. */
  words?: string
  at?: 'connect' | 'login' | 'address' | 'message'
  /** Which addresses are refused, if not all. */
  of?: (address: string) => boolean
}

export type MailboxOptions = SMTPServerOptions & {
  /** One step of every mail is refused until `accept` is called. */
  refusal?: Refusal
  /** No connection is greeted until `letGo` is called. */
  isHeld?: boolean
}

const CODE = /^\d{6} /

/** Opens a real SMTP server on loopback that stores its mails, by default at a free port. */
export async function openMailbox(
  port = 0,
  { refusal, isHeld = false, ...options }: MailboxOptions = {},
) {
  const mails: ReceivedMail[] = []
  const counts = { refusals: 0 }
  const { code = 0, words = 'not now', at = 'address', of = () => true } = refusal ?? {}
  let isRefusing = refusal !== undefined
  let arrived = Promise.withResolvers<void>()
  const caught = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  if (!isHeld) free.resolve()

  function refuse(step: Refusal['at'], address = ''): Error | null {
    if (!isRefusing || step !== at || !of(address)) return null
    counts.refusals++
    return Object.assign(new Error(words), { responseCode: code })
  }

  const server = new SMTPServer({
    authOptional: at !== 'login',
    allowInsecureAuth: true,
    disabledCommands: at === 'login' ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    onConnect(_session, done) {
      caught.resolve()
      void free.promise.then(() => done(refuse('connect')))
    },
    onAuth: ({ username }, _session, done) => done(refuse('login'), { user: username }),
    onRcptTo: ({ address }, _session, done) => done(refuse('address', address)),
    onData(stream, session, done) {
      buffer(stream)
        .then((bytes) => readMail(bytes, session))
        .then((mail) => {
          const error = refuse('message')
          if (!error) mails.push(mail)
          done(error)
          arrived.resolve()
          arrived = Promise.withResolvers()
        }, done)
    },
    ...options,
  })
  const ownPort = await listen(server.server, port)

  /** Waits until `count` such mails have arrived. Returns the newest one. */
  async function mailAbout(address: string, about: RegExp, count = 1) {
    for (;;) {
      const found = mailsTo(address).filter(({ subject }) => about.test(subject))
      const newest = found.at(-1)
      if (newest && found.length >= count) return newest
      await arrived.promise
    }
  }

  const mailsTo = (address: string) => mails.filter(({ to }) => to === address)

  return {
    mails,
    mailsTo,
    mailAbout,
    mailTo: (address: string, count = 1) => mailAbout(address, /^/, count),
    codeFor: async (address: string, count = 1) =>
      (await mailAbout(address, CODE, count)).subject.slice(0, 6),

    port: ownPort,
    url: `smtp://127.0.0.1:${ownPort}`,
    counts,
    accept() {
      isRefusing = false
    },
    /** Resolves once a sender has connected. */
    caught: caught.promise,
    letGo: free.resolve,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

export async function mailboxForTest(...args: Parameters<typeof openMailbox>): Promise<Mailbox> {
  return closeAfterTest(await openMailbox(...args))
}

async function readMail(
  bytes: Buffer,
  { envelope, secure: isSecure, hostNameAppearsAs: greeting }: SMTPServerSession,
) {
  const { subject = '', text = '', html = '', headers } = await PostalMime.parse(bytes)
  const headerOf = (name: string) => headers.find(({ key }) => key === name)?.value
  return {
    to: envelope.rcptTo.map(({ address }) => address).join(', '),
    ...{ subject, text, html, headerOf, isSecure, greeting },
    /** All bytes of the mail, as Latin-1. */
    source: bytes.toString('latin1'),
  }
}
