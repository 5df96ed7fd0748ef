import { createServer, type Socket } from 'node:net'
import { listen } from '../process/free-port.ts'

/** The steps of an SMTP conversation: what the client sends, and the reply that ends the step. */
const STEPS = {
  greeting: [/^$/, '220 hanging'],
  hello: [/^EHLO /i, '250-hanging\r\n250 AUTH PLAIN'],
  starttls: [/^STARTTLS/i, '454 4.7.0 TLS not available'],
  login: [/^AUTH /i, '235 welcome'],
  sender: [/^MAIL /i, '250 go on'],
  address: [/^RCPT /i, '250 go on'],
  data: [/^DATA\r/i, '354 go on'],
  message: [/\r\n\.\r\n$/, '250 taken'],
} as const satisfies Record<string, [RegExp, string]>

type Step = keyof typeof STEPS

/**
 * The server wants a login, keeps every connection, and does not reply from one step on. With
 * `drips` it sends lines of that reply without end instead, with `breaks` it closes the connection.
 */
export async function openHangingSmtp(
  at?: Step,
  { drips = false, breaks = false, hello = String(STEPS.hello[1]) } = {},
) {
  const counts = { open: 0 }
  const mails: string[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    counts.open++
    socket.on('close', () => counts.open--).on('error', () => socket.destroy())
    let heard = ''
    function answer() {
      const step = (Object.keys(STEPS) as Step[]).find((name) => STEPS[name][0].test(heard))
      // A message and the line that ends it may arrive in different chunks.
      if (!step) return
      if (step === 'message') mails.push(heard)
      heard = ''
      const reply = step === 'hello' ? hello : STEPS[step][1]
      if (step !== at) return void socket.write(`${reply}\r\n`)
      if (breaks) socket.destroy()
      if (!drips) return
      const timer = setInterval(() => socket.write(`${reply.slice(0, 3)}-wait\r\n`), 50)
      socket.on('close', () => clearInterval(timer))
    }
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text
      answer()
    })
    answer()
  })
  const port = await listen(server)
  return {
    url: `smtp://user:password@127.0.0.1:${port}`,
    counts,
    mails,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
