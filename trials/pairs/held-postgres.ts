import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { type Effects, sendObserved } from './effects.ts'

export type Statement = {
  /** The process of PostgreSQL that runs it. */
  pid: number
  text: string
  /** Sends it. Resolves when it is answered. */
  pass(): Promise<unknown>
  /** Sends it. Resolves when it is answered, to its effects and whether no transaction is open then. */
  passObserved(): Promise<{ isOver: boolean; effects: Effects | undefined }>
}

type Listener = (statement: Statement) => void

/** The pools of jobs and of those that send mails. */
const OF_JOBS = ['vslukh jobs', 'vslukh mails']

/** The nodes of this process, by an option that their connections have. */
const nodes = new Map<string, HeldPostgres>()
const { query } = pg.Client.prototype

pg.Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const { options = '', application_name: name } = this.connectionParameters
  const node = nodes.get(options)
  if (!node) return Reflect.apply(query, this, args)
  const [asked] = args
  const text = typeof asked === 'string' ? asked : (asked as { text: string }).text
  const isCallback = (arg: unknown): arg is Callback => typeof arg === 'function'
  const callback = args.find(isCallback)
  const answer = new Promise((resolve) => {
    const run = (...sent: unknown[]): Promise<unknown> => Reflect.apply(query, this, sent)
    const send = () => run(...args.filter((arg) => !isCallback(arg)))
    const status = () => this.getTransactionStatus()
    const pass = async () => {
      const answered = send()
      resolve(answered)
      await answered.catch(() => {})
    }
    const passObserved = async () => {
      const { answered, effects } = await sendObserved({ client: this, run }, send, text)
      resolve(answered)
      return { isOver: status() === 'I', effects }
    }
    node.take({ pid: this.processID ?? 0, text, pass, passObserved }, name, status() === 'I')
  })
  if (!callback) return answer
  answer.then((result) => callback(null, result), callback)
} as typeof query

type Callback = (error: Error | null, result?: unknown) => void
type Client = pg.Client & {
  processID: number | null
  connectionParameters: { options?: string; application_name?: string }
}

/**
 * The PostgreSQL of one node. While there is a listener, each statement of the requests' pool is
 * held until it is passed. Parked jobs stand still between their transactions.
 */
export class HeldPostgres {
  readonly url: string
  readonly #option = `-c pairs.node=${randomUUID()}`
  readonly #parked = new Set<Statement>()
  #areJobsParked = false
  #running = 0
  #listener: Listener | undefined

  constructor(databaseUrl: string) {
    const url = new URL(databaseUrl)
    url.searchParams.set('options', this.#option)
    this.url = url.href
    nodes.set(this.#option, this)
  }

  take(statement: Statement, applicationName: string | undefined, isBetween: boolean): void {
    if (applicationName === 'vslukh') this.#takeOfRequest(statement)
    else if (this.#areJobsParked && isBetween && OF_JOBS.includes(applicationName ?? '')) {
      this.#parked.add(statement)
    } else void statement.pass()
  }

  #takeOfRequest(statement: Statement): void {
    const counted =
      <T>(pass: () => Promise<T>) =>
      () => {
        this.#running++
        return pass().finally(() => this.#running--)
      }
    const pass = counted(statement.pass)
    const passObserved = counted(statement.passObserved)
    if (this.#listener) this.#listener({ ...statement, pass, passObserved })
    else void pass()
  }

  parkJobs(): void {
    this.#areJobsParked = true
  }

  listen(next: Listener | undefined): void {
    this.#listener = next
  }

  isBusy(): boolean {
    return this.#running > 0
  }

  free(): void {
    this.#areJobsParked = false
    this.#listener = undefined
    for (const { pass } of this.#parked) void pass()
  }
}
