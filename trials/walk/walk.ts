import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { PATHS } from '../../contract/pages.ts'
import { clear, giveHands, paste, rotate, tapAt, typeOn } from '../../e2e/testing/hands.ts'
import { DESKTOP, PHONE, type Site } from '../../e2e/testing/journey.ts'
import { reportByApi, signUpModerator } from '../../e2e/testing/moderation-actions.ts'
import { newEmail } from '../../server/testing/calls/account-fixture.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import { Choices } from './choices.ts'
import { findFaults, findWrongStep } from './judge.ts'
import { type Control, type Field, look, type View } from './look.ts'

/** What a page may take to settle on a busy machine. */
const PATIENCE_MS = 30_000
const ACTION_MS = 5000
/** How many steps after a press that gives texts up they may disappear. */
const GIVEN_UP_STEPS = 3
const GIVES_UP = /Выйти|Удалить|Завершить|Убрать|Стереть/
/** What the browser itself logs about calls without an answer. */
const NO_ANSWER = /net::ERR_|Failed to fetch|Unable to (?:pre)?load|NetworkError/

const WHO = ['visitor', 'person', 'moderator'] as const

type Act = (view: View) => Promise<string | undefined>

export type Walked = { seed: number; who: string; steps: string[]; faults: string[] }

/**
 * Walks through the site by steps that follow from the seed, until a property does not hold, or
 * `until` (by `performance.now()`) or `steps` is reached.
 */
export async function walk(
  site: Site,
  { seed, until, steps }: { seed: number; until: number; steps: number },
): Promise<Walked> {
  await site.startAnew()
  const who = WHO[Math.floor(seed / 2) % 3] ?? 'visitor'
  const isPhone = seed % 2 === 0
  const walker = new Walker(site, seed, isPhone)
  try {
    await walker.arrive(who)
    while (walker.faults.length === 0 && walker.count < steps && performance.now() < until) {
      await walker.step()
    }
    if (walker.faults.length === 0) await walker.end()
  } finally {
    await walker.leave()
  }
  const name = `${who}, ${isPhone ? 'phone' : 'desktop'}`
  return { seed, who: name, steps: walker.steps, faults: walker.faults }
}

class Walker {
  readonly #site: Site
  readonly #choices: Choices
  readonly #isPhone: boolean
  readonly #seed: number
  readonly steps: string[] = []
  readonly faults: string[] = []
  readonly #errors: string[] = []
  readonly #words = new Set<string>()
  /** Who has written each word, by the ids of users. */
  readonly #writers = new Map<string, string>()
  readonly #everPublished = new Set<string>()
  /** How often each control was tapped: others come first. */
  readonly #taps = new Map<string, number>()
  #context!: BrowserContext
  #page!: Page
  #user!: TestUser
  /** Another person at the same browser. */
  #friend!: TestUser
  #settled: View | undefined
  #isOnline = true
  #wasCutOff = false
  #hasTabbed = false
  #givesUpUntil = -1
  #texts = 0

  readonly #hasWorker: boolean

  constructor(site: Site, seed: number, isPhone: boolean) {
    this.#hasWorker = Math.floor(seed / 6) % 2 === 1
    this.#site = site
    this.#seed = seed
    this.#choices = new Choices(seed)
    this.#isPhone = isPhone
  }

  get count(): number {
    return this.#choices.step
  }

  async arrive(who: (typeof WHO)[number]): Promise<void> {
    const site = this.#site
    const petr = await site.signUp()
    this.#user = await (who === 'moderator' ? signUpModerator(site) : site.signUp())
    this.#friend = await site.signUp()
    await site.fillWall(petr, 25)
    await site.fillWall(this.#user, 2, 'Своя запись')
    const { posts } = await site.read('/posts?limit=6')
    await site.fillThread(petr, posts[0].id, ['Ответ на свою', 'Ещё ответ'])
    await site.fillThread(this.#user, posts[3].id, ['Свой ответ'])
    const reporter = await site.signUp()
    for (const at of [3, 4, 5]) await reportByApi(site, reporter, posts[at])
    this.#page = await site.visit({
      viewport: this.#isPhone ? PHONE : DESKTOP,
      hasTouch: this.#isPhone,
      expectedErrors: /^/,
      serviceWorkers: this.#hasWorker ? 'allow' : 'block',
      ...(who !== 'visitor' && { as: this.#user }),
    })
    this.#context = this.#page.context()
    this.#context.setDefaultTimeout(ACTION_MS)
    this.#context.on('weberror', (error) => this.#errors.push(String(error.error())))
    this.#context.on('console', (message) => {
      const isRefusal = /^Failed to load resource: /.test(message.text())
      if (message.type() === 'error' && !isRefusal) this.#errors.push(message.text())
    })
    this.#context.on('response', (response) => {
      // A machine that is busy answers 503.
      if (response.status() < 500 || response.status() === 503) return
      this.#errors.push(`${response.status()} ${response.request().method()} ${response.url()}`)
    })
    // A link that opens a tab of its own leads away.
    this.#context.on('page', (page) => void this.#receive(page))
    this.#receive(this.#page)
    await this.#judge('arrive')
  }

  #receive(page: Page): void {
    giveHands(page, `${this.#seed} ${this.#context.pages().length}`)
    page.on('dialog', (dialog) => void dialog.accept().catch(() => {}))
  }

  async step(): Promise<void> {
    const choices = this.#choices
    choices.step++
    if (!this.#isOnSite) await this.#comeBack()
    const view = await this.#view()
    if (!view)
      return this.#isOnSite ? void this.faults.push('the page cannot be looked at') : undefined
    const [name, act] = choices.pickByName(this.#acts(view), {
      nameOf: ([it]) => it,
      weightOf: ([, , weight]) => weight,
    }) ?? ['nothing', async () => '']
    const before = this.#settled
    this.#settled = undefined
    const did = await act(view).catch((error) => `failed: ${firstLine(error)}`)
    // Some steps follow before the page has answered.
    const isHasty = choices.isOneOf('haste', 3)
    this.steps.push(`${choices.step} ${name} ${did ?? ''}${isHasty ? ' (at once)' : ''}`)
    if (isHasty) return
    await this.#judge(name)
    if (this.faults.length > 0 || !before || !this.#isOnSite) return
    await this.#judgeStep(name, before)
  }

  #acts(view: View): [name: string, act: Act, weight: number][] {
    const hasField = view.fields.length > 0
    const writes = view.fields.some(({ kind, value }) => kind === 'text' && value !== '')
    const tabs = this.#context.pages().length
    const acts: [string, Act, number | false][] = [
      ['tap', (it) => this.#tap(it), 40],
      ['type', (it) => this.#type(it), hasField && (view.dialogs.length > 0 ? 30 : 5)],
      ['paste', (it) => this.#paste(it), hasField && 4],
      ['send', () => this.#press('Control+Enter'), writes && 20],
      ['press Enter', () => this.#press('Enter'), 2],
      ['press Escape', () => this.#press('Escape'), 3],
      ['press Tab', () => this.#press('Tab'), 2],
      ['press a shortcut', () => this.#shortcut(), !hasField && 4],
      ['go back', () => this.#page.goBack({ waitUntil: 'commit' }).then(() => ''), 5],
      ['go forward', () => this.#page.goForward({ waitUntil: 'commit' }).then(() => ''), 2],
      [
        'reload',
        () => this.#page.reload({ waitUntil: 'commit' }).then(() => ''),
        this.#isOnline && 4,
      ],
      ['go to', () => this.#goTo(), this.#isOnline && 3],
      ['rotate', () => rotate(this.#page).then(() => ''), 2],
      ['scroll', () => this.#scroll(), 4],
      ['lose an answer', () => this.#loseAnswers(), this.#isOnline && 4],
      ['lose a call', () => this.#loseCalls(), this.#isOnline && 2],
      ['go offline', () => this.#goOffline(), this.#isOnline && 3],
      ['go online', () => this.#goOnline(), !this.#isOnline && 12],
      ['open a tab', () => this.#openTab(), this.#isOnline && tabs < 3 && 2],
      ['change the tab', () => this.#changeTab(), tabs > 1 && 4],
      ['close the tab', () => this.#closeTab(), tabs > 1 && 1],
      ['somebody writes', () => this.#somebodyWrites(), 3],
      ['limits pass', () => this.#site.passLimitTime(600).then(() => ''), 2],
      ['the session ends', () => this.#endSessions(), 0.3],
      ['sign in', () => this.#signIn(), this.#isOnline && view.controls.some(isSignIn) && 4],
    ]
    return acts.flatMap(([name, act, weight]) =>
      weight ? [[name, act, weight] as const] : [],
    ) as [string, Act, number][]
  }

  async #tap({ controls }: View): Promise<string> {
    const control = this.#choices.pickByName(controls, {
      nameOf: ({ name, kind }) => `${kind} ${name}`,
      weightOf: (it) => weightOf(it) / (1 + (this.#taps.get(it.name) ?? 0)),
    })
    if (!control) return 'nothing'
    this.#taps.set(control.name, (this.#taps.get(control.name) ?? 0) + 1)
    this.#hasTabbed = false
    const times = this.#choices.isOneOf('double', 5) ? 2 : 1
    if (GIVES_UP.test(control.name)) this.#givesUpUntil = this.count + GIVEN_UP_STEPS
    await tapAt(this.#page, control, times, this.#isPhone)
    return `${times > 1 ? 'twice ' : ''}${control.kind} «${control.name}»`
  }

  async #type({ fields }: View): Promise<string> {
    const field = this.#pickField(fields)
    if (!field) return 'nothing'
    const locator = this.#locate(field)
    const text = await this.#textFor(field)
    const replaces = field.kind !== 'text' || this.#choices.isOneOf('replace', 2)
    if (replaces) {
      this.#giveUpWordsIn(field.value)
      await clear(locator)
    }
    await typeOn(locator, text)
    if (field.kind === 'email') await this.#page.keyboard.press('Enter')
    return this.#expectTyped(field, text)
  }

  async #paste({ fields }: View): Promise<string> {
    const field = this.#pickField(fields)
    if (!field) return 'nothing'
    const text = await paste(this.#locate(field), await this.#textFor(field))
    return this.#expectTyped(field, text)
  }

  /** Remembers the word of a text if the field holds it: it must not disappear from now on. */
  async #expectTyped(field: Field, text: string): Promise<string> {
    const value = await this.#locate(field)
      .inputValue({ timeout: 500 })
      .catch(() => '')
    const [word] = wordsIn(text)
    if (word && value.includes(word)) {
      this.#words.add(word)
      const writer = await this.#viewerId()
      if (writer) this.#writers.set(word, writer)
    }
    return `${field.kind} ${JSON.stringify(text.slice(0, 60))}${text.length > 60 ? `… (${text.length})` : ''}`
  }

  async #viewerId(view?: View): Promise<string | undefined> {
    const name = (view ?? (await this.#view()))?.viewer
    const [user] = await this.#site.rows('SELECT id FROM users WHERE username = $1', [name ?? ''])
    return user?.id
  }

  #giveUpWordsIn(value: string): void {
    for (const word of wordsIn(value)) this.#words.delete(word)
  }

  #pickField(fields: Field[]): Field | undefined {
    this.#hasTabbed = false
    return this.#choices.pickByName(fields, {
      nameOf: ({ kind, index }) => `${kind} ${index}`,
      weightOf: ({ isOnTop, isFocused }) => (isOnTop ? 3 : 1) * (isFocused ? 3 : 1),
    })
  }

  #locate({ index }: Field) {
    return this.#page.locator('input, textarea').nth(index)
  }

  async #textFor({ kind }: Field): Promise<string> {
    const choices = this.#choices
    const word = `слово${this.#seed}х${++this.#texts}х`
    if (kind === 'email') {
      return choices.isOneOf('new email', 6) ? newEmail() : this.#anyone().email
    }
    if (kind === 'code') return this.#newestCode()
    if (kind === 'line')
      return choices.pick('line', ['Запись', 'своя', `имя_${this.#texts}`, 'olga_pishet'])
    return choices.pick('text', [
      word,
      `${word} и ещё несколько слов.`,
      `${word} 👩‍👩‍👧 и\nновая строка`,
      `${word} ${'длинно'.repeat(30)}`,
      `${word} ${'очень много слов '.repeat(30)}`,
      `${word} https://example.org/${'a'.repeat(80)}`,
      `  ${word}  `,
    ])
  }

  #anyone(): TestUser {
    return this.#choices.pick('anyone', [this.#user, this.#user, this.#friend])
  }

  async #newestCode(): Promise<string> {
    // A mail needs a moment.
    await delay(300)
    const codes = this.#site.mailbox.mails.map(({ subject }) => /^\d{6}/.exec(subject)?.[0])
    const newest = codes.findLast((it) => it !== undefined) ?? '123456'
    return this.#choices.isOneOf('wrong code', 6) ? '654321' : newest
  }

  get #isOnSite(): boolean {
    return this.#page.url().startsWith(this.#site.url)
  }

  /** Returns to the site from the empty page before it, or from the browser's page of an error. */
  async #comeBack(): Promise<void> {
    if (!this.#isOnline) await this.#goOnline()
    await this.#page.goto(this.#site.url, { waitUntil: 'commit' })
    this.steps.push(`${this.count} come back`)
  }

  async #press(key: string): Promise<string> {
    this.#hasTabbed ||= key === 'Tab'
    await this.#page.keyboard.press(key)
    return ''
  }

  #shortcut(): Promise<string> {
    return this.#press(this.#choices.pick('shortcut', ['j', 'k', 'l', 'r', 'n', '?']))
  }

  async #goTo(): Promise<string> {
    const path = this.#choices.pick('path', [...Object.values(PATHS), '/moderation'])
    const posts = await this.#site.rows('SELECT id FROM posts ORDER BY id DESC LIMIT 5')
    const address = path
      .replace(':id', posts.at(this.#choices.number('post', 5))?.id ?? '1')
      .replace(':username', this.#user.username)
    await this.#page.goto(this.#site.url + address, { waitUntil: 'commit' })
    return address
  }

  async #scroll(): Promise<string> {
    const by = this.#choices.pick('by', [-3000, -600, 400, 1500, 9000])
    await this.#page.mouse.wheel(0, by)
    return String(by)
  }

  /** Lets the next write reach the server, and loses the answer. */
  async #loseAnswers(): Promise<string> {
    return this.#cutOff(async (route) => {
      const request = route.request()
      await fetch(request.url(), {
        method: request.method(),
        headers: await request.allHeaders(),
        body: request.postData(),
      }).catch(() => {})
      await route.abort()
    })
  }

  #loseCalls(): Promise<string> {
    return this.#cutOff((route) => route.abort())
  }

  async #cutOff(fail: (route: Route) => Promise<void>): Promise<string> {
    this.#wasCutOff = true
    await this.#context.unroute('**/api/v1/**')
    let left = 1
    await this.#context.route('**/api/v1/**', (route) => {
      if (route.request().method() === 'GET' || left === 0) return route.continue()
      left--
      return fail(route).catch(() => {})
    })
    return ''
  }

  async #goOffline(): Promise<string> {
    this.#wasCutOff = true
    this.#isOnline = false
    await this.#context.unroute('**/api/v1/**')
    await this.#context.setOffline(true)
    return ''
  }

  async #goOnline(): Promise<string> {
    await this.#context.setOffline(false)
    this.#isOnline = true
    return ''
  }

  async #openTab(): Promise<string> {
    this.#page = await this.#context.newPage()
    if (this.#isPhone) await this.#page.setViewportSize(PHONE)
    const address = this.#choices.pick('tab', ['/', '/own/posts', '/replies'])
    await this.#page.goto(this.#site.url + address, { waitUntil: 'commit' })
    return address
  }

  async #changeTab(): Promise<string> {
    const others = this.#context.pages().filter((it) => it !== this.#page)
    this.#page = this.#choices.pick('tab', others)
    await this.#page.bringToFront()
    return new URL(this.#page.url()).pathname
  }

  async #closeTab(): Promise<string> {
    const closed = this.#page
    await this.#changeTab()
    await closed.close()
    return ''
  }

  async #somebodyWrites(): Promise<string> {
    const somebody = await this.#site.signUp()
    const own = await this.#site.rows(
      'SELECT id FROM posts WHERE owner_id = $1 ORDER BY id DESC LIMIT 1',
      [this.#user.id],
    )
    const [post] = own
    if (post && this.#choices.isOneOf('reply', 2)) {
      await this.#site.reply(somebody, post.id, `Ответ номер ${this.count}`)
      return 'a reply'
    }
    await this.#site.publish(somebody, `Чужая запись номер ${this.count}`)
    return 'a post'
  }

  async #endSessions(): Promise<string> {
    await this.#site.rows('DELETE FROM sessions WHERE user_id = $1', [this.#user.id])
    return ''
  }

  async #signIn(): Promise<string> {
    const page = this.#page
    const { controls } = (await this.#view()) ?? { controls: [] }
    const button = controls.find(isSignIn)
    if (button) await tapAt(page, button, 1, this.#isPhone)
    const { email: address } = this.#anyone()
    const dialog = page.getByRole('dialog')
    const code = dialog.getByLabel('Код подтверждения')
    const email = dialog.getByLabel('Электронная почта')
    await code.or(email).waitFor()
    const sent = this.#site.mailbox.mails.length
    // After a reload the dialog goes on with the code that was asked for.
    if (await email.isVisible()) {
      await clear(email)
      await typeOn(email, address)
      await email.press('Enter')
      await code.waitFor()
      for (let n = 0; n < 50 && this.#site.mailbox.mails.length === sent; n++) await delay(100)
    }
    const mail = this.#site.mailbox.mails.findLast(({ subject }) => /^\d{6} /.test(subject))
    await typeOn(code, mail?.subject.slice(0, 6) ?? '000000')
    return address
  }

  /** Waits until the page has no fault. */
  async #judge(after: string): Promise<void> {
    if (!this.#isOnSite) return
    // A press may begin something only a frame later.
    await delay(150)
    const deadline = performance.now() + PATIENCE_MS
    let faults: string[]
    do {
      faults = await this.#faultsNow()
      if (faults.length === 0) break
      await delay(150)
    } while (performance.now() < deadline)
    const errors = this.#errors.splice(0)
    const unexpected = errors.filter((text) => !(this.#wasCutOff && NO_ANSWER.test(text)))
    faults.push(...unexpected.map((text) => `an error was not caught: ${text.slice(0, 400)}`))
    for (const fault of faults) this.faults.push(`after ${after}: ${fault}`)
    if (faults.length > 0) await this.#keepPicture()
  }

  /** Compares the page with how it was before the step, once both have settled. */
  async #judgeStep(name: string, before: View): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    let faults: string[] = []
    do {
      const after = await this.#view()
      if (!after) return
      this.#settled = after
      faults = findWrongStep(name, before, after)
      if (faults.length === 0) return
      await delay(150)
    } while (performance.now() < deadline)
    this.faults.push(...faults)
    await this.#keepPicture()
  }

  async #faultsNow(): Promise<string[]> {
    const published = await this.#published()
    const view = await this.#view()
    // A person who goes back slowly leaves the site meanwhile.
    if (!view) return this.#isOnSite ? ['the page cannot be looked at'] : []
    const elsewhere = await this.#elsewhere()
    const now = {
      isOnline: this.#isOnline,
      hasTabbed: this.#hasTabbed,
      words: this.#words,
      published,
      elsewhere,
      wordsOfOthers: await this.#wordsOfOthers(view),
    }
    this.#settled = view
    let faults = findFaults(view, now)
    if (this.count <= this.#givesUpUntil) {
      for (const word of [...this.#words]) {
        const isGone = `${view.everything}\n${elsewhere}`.includes(word) === false
        if (isGone) this.#words.delete(word)
      }
      faults = faults.filter((it) => !it.endsWith('is nowhere'))
    }
    return faults
  }

  /** Returns how often each word is published. A published text may be deleted or edited later. */
  async #published(): Promise<Map<string, number>> {
    const rows = await this.#site.rows("SELECT text FROM posts WHERE text LIKE '%слово%'")
    const counts = new Map<string, number>()
    for (const { text } of rows)
      for (const word of wordsIn(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const word of counts.keys()) {
      this.#words.delete(word)
      this.#everPublished.add(word)
    }
    return counts
  }

  async #wordsOfOthers(view: View): Promise<string[]> {
    const viewer = await this.#viewerId(view)
    if (!viewer) return []
    const written = [...this.#writers].filter(([word]) => !this.#everPublished.has(word))
    return written.filter(([, writer]) => writer !== viewer).map(([word]) => word)
  }

  async #elsewhere(): Promise<string> {
    const others = this.#context.pages().filter((it) => it !== this.#page)
    const views = await Promise.all(others.map((it) => it.evaluate(look).catch(() => null)))
    return views.map((it) => it?.everything ?? '').join('\n')
  }

  async #view(): Promise<View | undefined> {
    for (let n = 0; n < 20; n++) {
      const view = await this.#page.evaluate(look).catch(() => undefined)
      if (view) return view
      await delay(100)
    }
    return undefined
  }

  async #keepPicture(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'vslukh-walk-'))
    const path = join(folder, `${this.#seed}.png`)
    await this.#page.screenshot({ path }).catch(() => {})
    this.steps.push(`picture: ${path}, at ${this.#page.url()}`)
  }

  /** What waits is sent or refused in the end, once the network is there. */
  async end(): Promise<void> {
    this.#choices.step++
    await this.#context.unroute('**/api/v1/**')
    if (!this.#isOnline) await this.#goOnline()
    await this.#site.passLimitTime(3600)
    if (!this.#isOnSite) await this.#comeBack()
    await this.#judge('the end')
    if (this.faults.length > 0) return
    const deadline = performance.now() + PATIENCE_MS
    let overdue: string[]
    do {
      const view = await this.#view()
      const now = Date.now()
      overdue = Object.values(view?.texts ?? {}).filter((entry) => {
        const { by, state, until } = JSON.parse(entry)
        return by === this.#user.id && /sending|waiting/.test(state) && until < now - 8000
      })
      const isSignedIn = view?.everything.includes(this.#user.username)
      if (overdue.length === 0 || !isSignedIn) return
      await delay(500)
    } while (performance.now() < deadline)
    this.faults.push(`at the end: still waits, though due: ${overdue}`)
    await this.#keepPicture()
  }

  async leave(): Promise<void> {
    await this.#context?.setOffline(false).catch(() => {})
    await this.#context?.close()
  }
}

function weightOf({ name, kind, isOnTop }: Control): number {
  const onTop = isOnTop ? 4 : 1
  if (/Новая запись|Опубликовать|Ответить|Отправить|Изменить/.test(name)) return 2 * onTop
  if (kind === 'article') return 0.5 * onTop
  return onTop
}

function isSignIn({ name, kind }: Control): boolean {
  return kind === 'button' && name === 'Войти'
}

function wordsIn(text: string): string[] {
  return text.match(/слово\d+х\d+х/g) ?? []
}

function firstLine(error: unknown): string {
  return String(error).split('\n')[0] ?? ''
}

/** Returns what somebody needs to follow and to repeat a walk. */
export function report({ seed, who, steps, faults }: Walked): string {
  return [`HANDS=${seed} (${who})`, ...steps, ...faults.map((it) => `FAULT ${it}`)].join('\n  ')
}
