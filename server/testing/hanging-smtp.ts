import { createServer, type Socket } from 'node:net'
import { listen } from './free-port.ts'

/** Each step of an SMTP conversation ends with the server's reply. */
export const SMTP_STEPS = [
  'greeting',
  'hello',
  'login',
  'sender',
  'address',
  'data',
  'message',
] as const
export type SmtpStep = (typeof SMTP_STEPS)[number]

const REPLIES: { step: SmtpStep; asked: RegExp; reply: string }[] = [
  { step: 'hello', asked: /^EHLO /i, reply: '250-hanging\r\n250 AUTH PLAIN' },
  { step: 'login', asked: /^AUTH /i, reply: '235 welcome' },
  { step: 'sender', asked: /^MAIL /i, reply: '250 go on' },
  { step: 'address', asked: /^RCPT /i, reply: '250 go on' },
  { step: 'data', asked: /^DATA\r/i, reply: '354 go on' },
  { step: 'message', asked: /\r\n\.\r\n$/, reply: '250 taken' },
]

/** Calls `answer` with the first reply to what the client has sent since the last one. */
export function onAsked<Reply extends { asked: RegExp }>(
  socket: Socket,
  replies: readonly Reply[],
  answer: (reply: Reply) => void,
): void {
  let heard = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    // A message and the line that ends it may arrive in different chunks.
    heard += text
    const reply = replies.find(({ asked }) => asked.test(heard))
    if (!reply) return
    heard = ''
    answer(reply)
  })
}

/**
 * The server wants a login, keeps every connection, and does not reply from one step on. With
 * `drips` it sends lines of that reply without end instead.
 */
export async function openHangingSmtp(at: SmtpStep, { drips = false } = {}) {
  const counts = { connections: 0, mails: 0, open: 0 }
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    counts.connections++
    counts.open++
    socket.on('close', () => counts.open--).on('error', () => socket.destroy())
    const say = (step: SmtpStep, reply: string) => {
      if (step !== at) return void socket.write(`${reply}\r\n`)
      if (!drips) return
      const timer = setInterval(() => socket.write(`${reply.slice(0, 3)}-wait\r\n`), 50)
      socket.on('close', () => clearInterval(timer))
    }
    say('greeting', '220 hanging')
    onAsked(socket, REPLIES, ({ step, reply }) => {
      if (step === 'message') counts.mails++
      say(step, reply)
    })
  })
  const port = await listen(server)
  return {
    url: `smtp://user:password@127.0.0.1:${port}`,
    port,
    counts,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
