import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Returns everything that the server sends until it closes the connection. */
export async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = await openSocket(url)
  socket.write(bytes)
  return readToEnd(socket)
}

export async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A server that closes before it has read everything resets the connection.
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks).toString('utf8')
}

export function parseRaw(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) }
}
