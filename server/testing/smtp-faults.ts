import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** An SMTP server that answers every letter with a refusal, such as 451 (later, perhaps) or 550 (never). */
export async function openRefusingSmtp(responseCode: number) {
  const refused = Promise.withResolvers<void>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo(_address, _session, done) {
      refused.resolve()
      done(Object.assign(new Error('not now'), { responseCode }))
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    /** Settles once a letter was refused. */
    refused: refused.promise,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** A way to an SMTP server on which nothing moves, neither greeting nor letter, until it is let go. */
export async function openStuckSmtp(behindPort: number) {
  const caught = Promise.withResolvers<void>()
  const held: Socket[] = []
  let isStuck = true
  const letThrough = (socket: Socket) => {
    const onward = connect(behindPort, '127.0.0.1')
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    socket.pipe(onward).pipe(socket)
  }
  const server = createServer((socket) => {
    if (!isStuck) return letThrough(socket)
    held.push(socket)
    caught.resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Settles once a sender is caught in it. */
    caught: caught.promise,
    letGo() {
      isStuck = false
      for (const socket of held) letThrough(socket)
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
