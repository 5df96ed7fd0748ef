import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'

export type ArrivedMail = {
  to: string
  subject: string
  text: string
  /** Its Message-ID. */
  id: string
  code: string | undefined
  at: number
  steadyAt: number
  /** Whether the server's answer was lost, so that the mail may come again. */
  isUnanswered: boolean
}

export type Mood = 'well' | 'refusing' | 'greylisting' | 'deaf'

/** How many answers are lost in the mood `deaf`. */
const LOST_SHARE = 0.3
const CODE = /(?<!\d)\d{6}(?!\d)/

const refusal = (words: string, responseCode = 451) =>
  Object.assign(new Error(words), { responseCode })

/** A mail server with moods, which may also be down. It keeps every mail with the driver's time. */
export class Relay {
  readonly mails: ArrivedMail[] = []
  mood: Mood = 'well'
  isUp = false
  port = 0
  lostAnswers = 0
  /** Called when a conversation begins. */
  onBusy = () => {}
  readonly #clock: Clock
  readonly #chance: Chance
  readonly #sockets = new Map<number, Socket>()
  readonly #known = new Set<string>()
  #arrival = Promise.withResolvers<void>()
  #server: SMTPServer | undefined

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock
    this.#chance = chance
  }

  get isBusy(): boolean {
    return this.#sockets.size > 0
  }

  async open(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onMailFrom: (_, __, done) => done(this.mood === 'refusing' ? refusal('try later') : null),
      onRcptTo: ({ address }, _, done) => done(this.#refuses(address)),
      onData: (stream, { remotePort, envelope }, done) => {
        const to = envelope.rcptTo.map(({ address }) => address.toLowerCase()).join(', ')
        buffer(stream)
          .then((bytes) => this.#keep(bytes, to))
          .then((mail) => (mail.isUnanswered ? this.#sockets.get(remotePort)?.destroy() : done()))
          .catch(done)
      },
    })
    server.on('error', () => {})
    server.server.on('connection', (socket: Socket) => this.#watch(socket))
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(this.port, '127.0.0.1', resolve)
    await promise
    this.port = (server.server.address() as AddressInfo).port
    this.#server = server
    this.isUp = true
  }

  async close(): Promise<void> {
    if (!this.isUp) return
    this.isUp = false
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()))
    for (const socket of this.#sockets.values()) socket.destroy()
    await closed
  }

  /** Waits for a mail, for so many real milliseconds. */
  async find(
    isWanted: (mail: ArrivedMail) => boolean,
    withinMs: number,
  ): Promise<ArrivedMail | undefined> {
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(late.resolve, withinMs, 'late' as const)
    try {
      for (;;) {
        const found = this.mails.findLast(isWanted)
        if (found) return found
        if ((await Promise.race([this.#arrival.promise, late.promise])) === 'late') return undefined
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #watch(socket: Socket): void {
    const port = socket.remotePort ?? 0
    this.#sockets.set(port, socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(port))
    this.onBusy()
  }

  #refuses(address: string): Error | null {
    if (this.mood !== 'greylisting' || this.#known.has(address)) return null
    this.#known.add(address)
    return refusal('greylisted')
  }

  async #keep(bytes: Buffer, to: string): Promise<ArrivedMail> {
    const { subject = '', text = '', messageId: id = '' } = await PostalMime.parse(bytes)
    const isUnanswered = this.mood === 'deaf' && this.#chance.isHit(LOST_SHARE)
    if (isUnanswered) this.lostAnswers++
    const at = { at: this.#clock.now(), steadyAt: this.#clock.steady() }
    const mail = { to, subject, text, id, code: CODE.exec(subject)?.[0], isUnanswered, ...at }
    this.mails.push(mail)
    this.#arrival.resolve()
    this.#arrival = Promise.withResolvers()
    return mail
  }
}
