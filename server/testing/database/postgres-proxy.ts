import { connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { listen } from '../process/free-port.ts'

/** The types of messages that end a statement: Query and Sync (protocol 3.0). */
const ENDS_STATEMENT = /[QS]/
/** A password response, Terminate and the rows of a COPY are no part of a statement. */
const STANDS_ALONE = /[pXdcf]/

/** `unread` contains what a frozen database has not read. */
type Line = { client: Socket; server: Socket; unread: Buffer[] }

/**
 * The proxy can freeze like a host that hangs: connections stay open without any reply. It can be
 * cut off like a server that was killed: connections break, and new ones do. It counts the
 * statements of connections with this application name. The caller closes it.
 */
export async function openPostgresProxy(databaseUrl: string, applicationName = 'vslukh') {
  const counted = `application_name\0${applicationName}\0`
  const { host, port, user, database } = new pg.Client(databaseUrl)
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const lines = new Set<Line>()
  let statements = 0
  let freezesAt = Number.POSITIVE_INFINITY
  let isFrozen = false
  let isCut = false
  let frozen = Promise.withResolvers<void>()

  function freeze(): void {
    isFrozen = true
    freezesAt = Number.POSITIVE_INFINITY
    for (const { server } of lines) server.pause()
    frozen.resolve()
  }

  const proxy = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const server = connect(target)
    const line: Line = { client, server, unread: [] }
    lines.add(line)
    if (isFrozen) server.pause()
    const end = () => {
      lines.delete(line)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    server.on('data', (chunk) => client.write(chunk))

    const take = createSplitter(counted, (bytes, isCounted) => {
      if (isCounted && !isFrozen && ++statements >= freezesAt) freeze()
      if (isFrozen) line.unread.push(bytes)
      else server.write(bytes)
    })
    client.on('data', take)
  })

  return {
    url: `postgresql://${user}@127.0.0.1:${await listen(proxy)}/${database}`,
    /** Freezes before the `n`-th statement from now reaches the database. Resolves when it has. */
    freezeAt(n: number): Promise<void> {
      freezesAt = statements + n
      frozen = Promise.withResolvers()
      return frozen.promise
    },
    freeze,
    cut(): void {
      isCut = true
      for (const { client } of lines) client.destroy()
    },
    repair(): void {
      isCut = false
    },
    thaw(): void {
      isFrozen = false
      freezesAt = Number.POSITIVE_INFINITY
      for (const { server, unread } of lines) {
        for (const bytes of unread.splice(0)) server.write(bytes)
        server.resume()
      }
    },
    close(): void {
      proxy.close()
      for (const { client } of lines) client.destroy()
    },
  }
}

/**
 * Splits the bytes of a client into the start of its connection and its statements. `isCounted` is
 * true for connections whose start contains `counted`.
 */
function createSplitter(counted: string, onPiece: (bytes: Buffer, isCounted: boolean) => void) {
  let pending: Buffer = Buffer.alloc(0)
  let hasStarted = false
  let isCounted = false
  /** Where in `pending` the next message begins. */
  let at = 0

  return (chunk: Buffer): void => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const head = hasStarted ? 1 : 0
      if (pending.length < at + head + 4) return
      const end = at + head + pending.readInt32BE(at + head)
      if (pending.length < end) return
      const type = pending.toString('latin1', at, at + head)
      at = end
      if (hasStarted && !ENDS_STATEMENT.test(type) && !STANDS_ALONE.test(type)) continue
      const piece = pending.subarray(0, end)
      pending = pending.subarray(end)
      at = 0
      if (!hasStarted) isCounted = piece.includes(counted)
      onPiece(piece, isCounted && ENDS_STATEMENT.test(type))
      hasStarted = true
    }
  }
}
