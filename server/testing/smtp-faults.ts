import { connect, createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { expect, onTestFinished } from 'vitest'
import type { Queryable } from '../kernel/db/database.ts'
import { IS_PAUSED } from '../kernel/mail/login-pause.repository.ts'
import { closeAfterTest } from './close-after-test.ts'
import { listen } from './free-port.ts'
import { openHangingSmtp } from './hanging-smtp.ts'
import { openMailbox } from './mailbox.ts'

/** Opens an SMTP server that wants no login, until the test has finished. Returns its port. */
export function smtpForTest(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({ authOptional: true, ...options })
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return listen(server.server)
}

type Refusal = {
  code: number
  /** The text after the code, such as an enhanced status code and words. */
  words?: string
  at?: 'connect' | 'login' | 'sender' | 'address' | 'message'
  port?: number
}

/** Refuses one step of every mail, for example with 451 (temporarily) or 550 (permanently). */
export async function openRefusingSmtp(refusal: Refusal) {
  const { code, words = 'not now', at = 'address', port = 0 } = refusal
  const refused = Promise.withResolvers<void>()
  const counts = { refusals: 0 }
  const step = (name: Refusal['at'], done: (error?: Error) => void) => {
    if (name !== at) return done()
    counts.refusals++
    refused.resolve()
    done(Object.assign(new Error(words), { responseCode: code }))
  }
  const server = new SMTPServer({
    authOptional: at !== 'login',
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onConnect: (_session, done) => step('connect', done),
    onAuth: ({ username }, _session, done) =>
      step('login', (error) => done(error ?? null, { user: username })),
    onMailFrom: (_address, _session, done) => step('sender', done),
    onRcptTo: (_address, _session, done) => step('address', done),
    onData(stream, _session, done) {
      stream.resume().on('end', () => step('message', done))
    },
  })
  const ownPort = await listen(server.server, port)
  return {
    port: ownPort,
    url: `smtp://127.0.0.1:${ownPort}`,
    counts,
    /** Resolves once a mail was refused. */
    refused: refused.promise,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** Drips at the greeting or the hello for ever, or takes a whole mail in silence. */
export async function openTarpitSmtp(at: 'greeting' | 'hello' | 'message') {
  const tarpit = await openHangingSmtp(at, { drips: at !== 'message' })
  return { ...tarpit, open: () => tarpit.counts.open }
}

/** Forwards nothing until `letGo` is called. */
export async function openStuckSmtp(behindPort: number) {
  const caught = Promise.withResolvers<void>()
  const waiting: Socket[] = []
  let isStuck = true
  const letThrough = (socket: Socket) => {
    const onward = connect(behindPort, '127.0.0.1')
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    socket.pipe(onward).pipe(socket)
  }
  const server = createServer((socket) => {
    if (!isStuck) return letThrough(socket)
    waiting.push(socket)
    caught.resolve()
  })
  return {
    url: `smtp://127.0.0.1:${await listen(server)}`,
    /** Resolves once a sender has connected. */
    caught: caught.promise,
    letGo() {
      isStuck = false
      for (const socket of waiting) letThrough(socket)
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Opens a mailbox behind a server that is stuck, until the test has finished. */
export async function stuckMailbox() {
  const mailbox = closeAfterTest(await openMailbox())
  const stuck = closeAfterTest(await openStuckSmtp(Number(new URL(mailbox.url).port)))
  return { mailbox, stuck }
}

/** Every mail waits for a later time or for the login, and none is being sent. */
export function untilAllWait(db: Queryable): Promise<void> {
  return expect
    .poll(async () => {
      const { rows } = await sql<{ busy: number }>`SELECT count(*)::int AS busy FROM outbox
        WHERE payload IS NOT NULL AND (claimed_until IS NOT NULL OR NOT ${IS_PAUSED} AND due_at <= now())`.execute(
        db,
      )
      return rows[0]?.busy
    })
    .toBe(0)
}
