import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { changeLostEmail } from '../../server/features/account/account.service.ts'
import { removeAllClients } from '../../server/features/sessions/known-clients.repository.ts'
import { closeSessions } from '../../server/features/sessions/sessions.repository.ts'
import { addJob } from '../../server/kernel/queue/queue.ts'
import { Authenticator } from '../../server/testing/authenticator.ts'
import { undoChange } from '../../server/testing/calls/email-change-calls.ts'
import {
  addPasskey,
  passPasskeyTime,
  removePasskey,
  signInWith,
} from '../../server/testing/calls/passkey-calls.ts'
import {
  passRequestTime,
  passSessionTime,
  passTime,
} from '../../server/testing/database/passing-time.ts'
import { browserOf, DEVICE, type TestAnswer } from '../../server/testing/http/client.ts'
import type { TestApp } from '../../server/testing/test-app.ts'
import type { Name, Snapshot, Step, Trace } from './traces.ts'

const DAY = 86_400
/** The quarter of an hour of the model: longer than a token, a repetition, a young secret or a code. */
const QUARTER = 900
const CODE_LIFE = 1800

/** The browser of a person. A thief's browser is a copy of the browser with the stolen session. */
type Profile = { clientToken: string; browser: string }
type OtherAccount = { token: string; clientToken: string }

/** Plays a trace of the model over HTTP. */
export class Player {
  readonly #app: TestApp
  readonly #trace: Trace
  readonly #emails = new Map<string, string>()
  readonly #profiles = new Map<string, Profile>()
  /** What a person holds, by the person and the atom. */
  readonly #tokens = new Map<string, string>()
  readonly #cookies = new Map<string, string>()
  readonly #operations = new Map<string, string>()
  readonly #changes = new Map<string, string>()
  readonly #passkeys = new Map<string, { id: string; authenticator: Authenticator }>()
  readonly #others = new Map<string, OtherAccount>()
  #userId = ''
  #cookieName = ''

  constructor(app: TestApp, trace: Trace) {
    this.#app = app
    this.#trace = trace
  }

  /** Returns the first step after which the server has something else than the model, or undefined. */
  async play(): Promise<string | undefined> {
    await this.#prepare()
    let before = this.#trace.before
    for (const [n, step] of this.#trace.steps.entries()) {
      await this.#take(step, before)
      await this.#nameChange(step, before)
      const different = await this.#difference(step.after)
      if (different) return `${n + 1}. ${step.call}: ${different}`
      before = step.after
    }
    return this.#differentSignIn(before)
  }

  /** Compares which addresses a code is mailed to. */
  async #differentSignIn({ email, isErased, elsewhere }: Snapshot): Promise<string | undefined> {
    const ofAccounts = isErased ? elsewhere : [email, ...elsewhere]
    for (const [address, asked] of this.#emails) {
      const body = { email: asked, clientToken: randomUUID(), device: DEVICE }
      const { status } = await this.#app.call('POST', '/logins', { body })
      const expected = ofAccounts.includes(address) ? 201 : 404
      if (status !== expected) return `a sign-in with ${address}: ${status} instead of ${expected}`
    }
    return undefined
  }

  async #prepare(): Promise<void> {
    const { before, cookies } = this.#trace
    const owner = await this.#app.signIn(this.#email('Home'))
    this.#userId = owner.id
    this.#cookieName = owner.browser.split('=', 1)[0] ?? ''
    await this.#app.call('DELETE', '/sessions/current', { token: owner.token })
    for (const session of before.open) {
      const opened = await this.#app.signIn(this.#email('Home'))
      const { clientToken, browser } = opened
      this.#profiles.set(session, { clientToken, browser })
      for (const name of ['Owner', 'Thief'] as const) {
        const key = `${name} ${session}`
        if (cookies[name].includes(session)) this.#cookies.set(key, opened.cookie)
        if (before.tokens[name].includes(session)) this.#tokens.set(key, opened.token)
      }
    }
    // The model begins with secrets that are due.
    await passSessionTime(this.#app, QUARTER)
  }

  #email(address: string): string {
    const email =
      this.#emails.get(address) ?? `${address.toLowerCase()}-${randomUUID()}@example.org`
    this.#emails.set(address, email)
    return email
  }

  #profileOf(name: Name): Profile {
    const browser = `${this.#cookieName}=${randomBytes(32).toString('base64url')}`
    const profile = this.#profiles.get(name) ?? { clientToken: randomUUID(), browser }
    this.#profiles.set(name, profile)
    return profile
  }

  async #take(step: Step, before: Snapshot): Promise<void> {
    const calls: Record<string, () => Promise<unknown>> = {
      startLogin: () => this.#start(step, 'POST', '/logins'),
      verifyLogin: () => this.#verifySignIn(step, '/logins'),
      startRegistration: () => this.#start(step, 'POST', '/registrations'),
      verifyRegistration: () => this.#verifySignIn(step, '/registrations'),
      startEmailChange: () => this.#start(step, 'PUT', '/users/current/email'),
      verifyEmailChange: () => this.#verify(step, 'PUT', '/users/current/email'),
      undoEmailChange: () => this.#undo(step),
      startAccountDeletion: () => this.#start(step, 'POST', '/users/current/deletion'),
      verifyAccountDeletion: () => this.#verify(step, 'POST', '/users/current/deletion'),
      refreshSession: () => this.#refresh(step),
      closeSession: () => this.#call(step, 'DELETE', `/sessions/${this.#idOf(step.about)}`),
      closeOtherSessions: () => this.#call(step, 'DELETE', '/sessions'),
      closeCurrentSession: () => this.#call(step, 'DELETE', '/sessions/current'),
      addPasskey: () => this.#addPasskey(step),
      signInWithPasskey: () => this.#signInWithPasskey(step),
      removePasskey: () => removePasskey(this.#app, this.#userOf(step), this.#passkeyOf(step).id),
      operatorSignsOut: () => this.#signOut(),
      operatorChangesEmail: () => this.#changeLostEmail(step),
      otherAccountMoves: () => this.#moveOther(step, before),
      erase: () => this.#erase(),
      minutesPass: () => this.#passMinutes(),
      dayPasses: () => this.#passDay(),
      nothing: async () => {},
    }
    const call = calls[step.call]
    if (!call) throw new Error(`No call plays ${step.call}`)
    await call()
  }

  /** Starts an operation. Without the answer the browser does not know its id. */
  async #start(step: Step, method: string, path: string): Promise<void> {
    const name = nameOf(step)
    const { clientToken, browser } = this.#profileOf(name)
    const email = step.about === undefined ? undefined : this.#email(step.about)
    const isSignIn = method === 'POST' && email !== undefined
    const body = { email, clientToken, ...(isSignIn && { device: DEVICE }) }
    const answer = await this.#call(step, method, path, body, browser)
    if (!step.isLost && answer.status === 201) {
      this.#operations.set(`${name} ${path} ${step.about ?? ''}`, answer.body.id)
    }
  }

  async #verify(step: Step, method: string, path: string, more = {}): Promise<TestAnswer> {
    const name = nameOf(step)
    const { clientToken, browser } = this.#profileOf(name)
    const about = path.endsWith('deletion') ? '' : (step.about ?? '')
    const id = this.#operations.get(`${name} ${path} ${about}`) ?? 'unknown'
    const body = { confirmCode: this.#app.codeFor(id), clientToken, ...more }
    return this.#call(step, method, `${path}/${id}/verify`, body, browser)
  }

  async #verifySignIn(step: Step, path: string): Promise<void> {
    const name = nameOf(step)
    const answer = await this.#verify(step, 'POST', path, { restore: true })
    if (answer.status !== 200) return
    const { clientToken } = this.#profileOf(name)
    const token = answer.body.accessToken.token
    if (step.session === undefined) {
      this.#others.set(step.about ?? '', { token, clientToken })
      return
    }
    this.#profiles.set(step.session, { clientToken, browser: browserOf(answer) })
    if (!step.isLost) this.#receive(step, answer)
  }

  /** Remembers the row of a change that the model has now. One of the operator's has more rows. */
  async #nameChange({ after }: Step, before: Snapshot): Promise<void> {
    const added = after.changes.find((change) => !before.changes.includes(change))
    if (added === undefined) return
    const rows = this.#app.db.selectFrom('email_changes').select('id')
    const ids = await rows.where('user_id', '=', this.#userId).orderBy('number').execute()
    const known = [...this.#changes.values()]
    const first = ids.find(({ id }) => !known.includes(id))
    if (first) this.#changes.set(added, first.id)
  }

  async #addPasskey(step: Step): Promise<void> {
    const authenticator = new Authenticator()
    const passkey = await addPasskey(this.#app, this.#userOf(step), authenticator)
    this.#passkeys.set(step.about ?? '', { id: passkey.id, authenticator })
  }

  async #signInWithPasskey(step: Step): Promise<void> {
    const { authenticator } = this.#passkeyOf(step)
    const { clientToken, browser } = this.#profileOf(nameOf(step))
    const answer = await signInWith(this.#app, authenticator, { clientToken, browser })
    if (answer.status !== 200) return
    this.#profiles.set(step.session ?? '', { clientToken, browser: browserOf(answer) })
    if (!step.isLost) this.#receive(step, answer)
  }

  #passkeyOf({ about = '' }: Step) {
    const passkey = this.#passkeys.get(about)
    if (!passkey) throw new Error(`Nobody has added ${about}`)
    return passkey
  }

  #userOf(step: Step) {
    return { token: this.#tokens.get(keyOf(step)) ?? 'none' }
  }

  async #undo(step: Step): Promise<void> {
    const id = this.#changes.get(step.about ?? '') ?? 'unknown'
    await undoChange(this.#app, { id, secret: this.#app.undoSecretFor(id) })
  }

  async #refresh(step: Step): Promise<void> {
    const { clientToken, browser } = this.#profiles.get(step.session ?? '') ?? {}
    const cookie = `${this.#cookies.get(keyOf(step))}; ${browser}`
    const answer = await this.#app.call('PATCH', '/sessions/current', {
      headers: { cookie, origin: this.#app.url },
      body: { clientToken },
    })
    if (answer.status === 200 && !step.isLost) this.#receive(step, answer)
  }

  #receive(step: Step, { body, cookie }: TestAnswer): void {
    this.#tokens.set(keyOf(step), body.accessToken.token)
    if (cookie !== undefined) this.#cookies.set(keyOf(step), cookie)
  }

  #call(step: Step, method: string, path: string, body?: object, cookie?: string) {
    const isOfSession = step.session !== undefined && !/^.(logins|registrations)/.test(path)
    const token = isOfSession ? (this.#tokens.get(keyOf(step)) ?? 'none') : undefined
    return this.#app.call(method, path, { body, token, ...(cookie && { headers: { cookie } }) })
  }

  /** Returns the id of a session, which its cookie begins with. */
  #idOf(session = ''): string {
    const held = [...this.#cookies].find(([key]) => key.endsWith(` ${session}`))
    return /=([^.]+)/.exec(held?.[1] ?? '')?.[1] ?? 'unknown'
  }

  /** As `vslukh user NAME sign-out` does. */
  async #signOut(): Promise<void> {
    await this.#app.db.transaction().execute(async (tx) => {
      await closeSessions(tx, this.#userId, { reason: 'Сессия завершена' })
      await removeAllClients(tx, this.#userId)
    })
  }

  /** As `vslukh user NAME email NEW` does. */
  async #changeLostEmail({ about = '' }: Step): Promise<void> {
    const change = {
      userId: this.#userId,
      email: this.#email(about),
      reason: '',
      actor: 'operator',
    }
    await this.#app.db.transaction().execute((tx) => changeLostEmail(tx, change))
  }

  async #moveOther(step: Step, before: Snapshot): Promise<void> {
    const from = before.elsewhere.find((address) => !step.after.elsewhere.includes(address)) ?? ''
    const { token = '', clientToken = '' } = this.#others.get(from) ?? {}
    const path = '/users/current/email'
    const start = { email: this.#email(step.about ?? ''), clientToken }
    const { id } = (await this.#app.call('PUT', path, { token, body: start })).body
    const body = { confirmCode: this.#app.codeFor(id), clientToken }
    await this.#app.call('PUT', `${path}/${id}/verify`, { token, body })
    this.#others.set(step.about ?? '', { token, clientToken })
  }

  async #erase(): Promise<void> {
    await passTime(this.#app.db, 15 * DAY, 'users', 'deleted_at')
    await addJob(this.#app.db, 'move-accounts')
    const user = this.#app.db.selectFrom('users').select('id').where('id', '=', this.#userId)
    await expect.poll(() => user.execute()).toEqual([])
  }

  async #passMinutes(): Promise<void> {
    const { db } = this.#app
    await passSessionTime(this.#app, QUARTER)
    await passRequestTime(this.#app, CODE_LIFE)
    await passTime(db, QUARTER, 'redeemed_codes', 'redeemed_at')
    await passTime(db, QUARTER, 'email_changes', 'undone_at')
    await passPasskeyTime(this.#app, CODE_LIFE)
    this.#tokens.clear()
    this.#operations.clear()
  }

  async #passDay(): Promise<void> {
    await this.#passMinutes()
    await passTime(this.#app.db, DAY, 'email_changes', 'expires_at')
  }

  /** Compares what is stored, who is signed in, and which addresses open an account. */
  async #difference(expected: Snapshot): Promise<string | undefined> {
    const [stored] = await this.#app.sql<Stored>`
      SELECT email, deleted_at IS NOT NULL AS "isDeleted",
        (SELECT count(*) FROM sessions WHERE user_id = u.id)::int AS open,
        (SELECT count(*) FROM email_changes WHERE user_id = u.id AND expires_at > now())::int AS live,
        (SELECT count(*) FROM passkeys WHERE user_id = u.id AND removed_at IS NULL)::int AS passkeys
      FROM users u WHERE id = ${this.#userId}`
    const isSigned: string[] = []
    for (const [key, token] of this.#tokens) {
      const { status } = await this.#app.call('GET', '/users/current', { token })
      if (status === 200) isSigned.push(key)
    }
    const tokens = (['Owner', 'Thief'] as const).flatMap((name) =>
      expected.tokens[name].map((session) => `${name} ${session}`),
    )
    const { isDeleted, open, live, passkeys } = expected
    const counts = { open: open.length, live: live.length, passkeys: passkeys.length }
    const account = { isDeleted, ...counts }
    const wanted = {
      account: expected.isErased ? undefined : { email: this.#email(expected.email), ...account },
      tokens: tokens.toSorted(),
    }
    const found = { account: stored, tokens: isSigned.toSorted() }
    return JSON.stringify(sorted(found)) === JSON.stringify(sorted(wanted))
      ? undefined
      : `${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`
  }
}

type Stored = {
  email: string
  isDeleted: boolean
  open: number
  live: number
  passkeys: number
}

const sorted = ({ account, tokens }: { account: Stored | undefined; tokens: string[] }) => [
  account && [...[account.email, account.isDeleted, account.open, account.live, account.passkeys]],
  tokens,
]

function nameOf({ by, call }: Step): Name {
  if (!by) throw new Error(`Nobody makes the call ${call}`)
  return by
}

const keyOf = (step: Step) => `${nameOf(step)} ${step.session}`
