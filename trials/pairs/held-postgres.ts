import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createSplitter, postgresTarget } from '../../server/testing/postgres-proxy.ts'

/** What a node sends in one round trip, up to Sync or a simple Query. */
export type Statement = {
  /** The process of PostgreSQL that runs it. */
  pid: number
  text: string
  /**
   * Sends it on. Resolves when PostgreSQL is ready for the next statement of the connection, to
   * whether no transaction is open then.
   */
  pass(): Promise<boolean>
}

type Listener = (statement: Statement) => void

const READY = 'Z'
const KEY_DATA = 'K'
const IN_NO_TRANSACTION = 'I'.charCodeAt(0)

export type HeldPostgres = Awaited<ReturnType<typeof openHeldPostgres>>

/**
 * Opens a proxy in front of PostgreSQL. While there is a listener, holds each statement of the
 * requests' pool until it is passed. Parked jobs stand still between their transactions. Other
 * connections go through. The caller closes it.
 */
export async function openHeldPostgres(databaseUrl: string) {
  const { target, urlAt } = postgresTarget(databaseUrl)
  const sockets = new Set<Socket>()
  const parked = new Set<Statement['pass']>()
  let areJobsParked = false
  let running = 0
  let listener: Listener | undefined

  function take(ofWhom: 'requests' | 'jobs' | 'others', statement: Statement, isBetween: boolean) {
    if (ofWhom === 'requests' && listener) listener(statement)
    else if (ofWhom === 'jobs' && areJobsParked && isBetween) parked.add(statement.pass)
    else void statement.pass()
  }

  const proxy = createServer((client) => {
    const server = connect(target)
    for (const socket of [client, server]) {
      sockets.add(socket)
      const end = () => {
        sockets.delete(socket)
        client.destroy()
        server.destroy()
      }
      socket.setNoDelay(true).on('error', end).on('close', end)
    }
    let pid = 0
    let isBetween = true
    const awaited: ((isBetween: boolean) => void)[] = []
    const readAnswers = createReader((type, body) => {
      if (type === KEY_DATA) pid = body.readInt32BE(0)
      if (type !== READY) return
      isBetween = body[0] === IN_NO_TRANSACTION
      const resolve = awaited.shift()
      // Resolves after the client has received the answer.
      if (resolve) setImmediate(resolve, isBetween)
    })
    server.on('data', (chunk: Buffer) => {
      client.write(chunk)
      readAnswers(chunk)
    })

    let ofWhom: Parameters<typeof take>[0] | undefined
    const textOf = createTextReader()
    const split = createSplitter('', (bytes) => {
      if (ofWhom === undefined) {
        ofWhom = callerOf(bytes)
        awaited.push(() => {})
        server.write(bytes)
        return
      }
      const text = textOf(bytes)
      const pass = () => {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        if (ofWhom === 'requests') running++
        awaited.push((isOver) => {
          if (ofWhom === 'requests') running--
          resolve(isOver)
        })
        server.write(bytes)
        return promise
      }
      if (text === undefined) server.write(bytes)
      else take(ofWhom, { pid, text, pass }, isBetween)
    })
    client.on('data', (chunk: Buffer) => split(chunk))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')

  return {
    url: urlAt((proxy.address() as AddressInfo).port),
    parkJobs(): void {
      areJobsParked = true
    },
    /** Without a listener, statements go through. */
    listen(next: Listener | undefined): void {
      listener = next
    },
    isBusy: () => running > 0,
    /** Lets everything through from now on. */
    free(): void {
      areJobsParked = false
      listener = undefined
      for (const pass of parked) void pass()
    },
    close(): void {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function callerOf(start: Buffer) {
  if (start.includes('application_name\0vslukh\0')) return 'requests'
  return start.includes('application_name\0vslukh jobs\0') ? 'jobs' : 'others'
}

/** Calls `onMessage` with each message of a stream (protocol 3.0). */
function createReader(onMessage: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk
    while (pending.length >= 5) {
      const end = 1 + pending.readInt32BE(1)
      if (pending.length < end) return
      onMessage(String.fromCharCode(pending[0] as number), pending.subarray(5, end))
      pending = pending.subarray(end)
    }
  }
}

/** Creates a reader of a statement's SQL, also if it is prepared; undefined for other messages. */
function createTextReader(): (bytes: Buffer) => string | undefined {
  const prepared = new Map<string, string>()
  return (bytes) => {
    let text: string | undefined
    createReader((type, body) => {
      if (type === 'Q') text = stringAt(body, 0)
      if (type === 'P') {
        const name = stringAt(body, 0)
        text = stringAt(body, Buffer.byteLength(name) + 1)
        prepared.set(name, text)
      }
      // The statement's name follows the portal's.
      if (type === 'B') text = prepared.get(stringAt(body, body.indexOf(0) + 1))
      if (type === 'S') text ??= ''
    })(bytes)
    return text
  }
}

function stringAt(body: Buffer, start: number): string {
  return body.toString('utf8', start, body.indexOf(0, start))
}
