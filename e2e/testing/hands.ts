import type { CDPSession, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * How journeys type, tap and leave: with pauses and slips, as people do. The same seed makes the
 * same ones; `HANDS=<seed>` makes others.
 */
const SEED = process.env.HANDS ?? '1'

/** Longer texts are typed by words, as a phone's keyboard sends them. */
const LONGEST_BY_KEYS = 60
const PAUSE_MS = 25

type Typist = (hands: Hands, text: string) => Promise<unknown>

/** Replaces the content of a field, which must then hold exactly the typed text. */
export async function write(field: Locator, text: string): Promise<void> {
  await clear(field)
  await handsOn(field).type(text)
  await expect.poll(() => field.inputValue()).toBe(text)
}

/** Types a code, whose field keeps the caret at its end, and submits itself once it is full. */
export async function enterDigits(field: Locator, digits: string): Promise<void> {
  await clear(field)
  await handsOn(field).typeDigits(digits)
}

/** Types a text with every slip that people make. The field must show what was typed each time. */
export async function writeWithSlips(field: Locator, text: string): Promise<void> {
  for (const typist of TYPISTS) {
    await clear(field)
    await typist(handsOn(field), text)
    expect(await field.inputValue()).toBe(text)
  }
}

/** Copies a text from another tab, which needs no secure context. */
export async function copy(page: Page, text: string): Promise<void> {
  const other = await page.context().newPage()
  await other.setContent('<textarea></textarea>')
  const field = other.getByRole('textbox')
  await field.evaluate((it: HTMLTextAreaElement, copied) => {
    it.value = copied
  }, text)
  await field.selectText()
  await other.keyboard.press('ControlOrMeta+C')
  await other.close()
}

/** Focuses a field and deletes its content. */
export async function clear(field: Locator): Promise<void> {
  const isFocused = await field.evaluate((it) => it === document.activeElement)
  if (!isFocused) await field.click()
  const { length } = await field.inputValue()
  if (length > 0) await handsOn(field).deleteAll(length)
}

/** Types at the caret of a field, and does not look at what stands there afterwards. */
export async function typeOn(field: Locator, text: string): Promise<void> {
  await field.focus()
  await handsOn(field).type(text)
}

/**
 * Presses a control. Of the buttons that submit a form, a seeded share is pressed twice: the second
 * press must do nothing more.
 */
export async function tap(control: Locator): Promise<void> {
  const submits = await control.evaluate((it) => it.matches('button[type=submit]'))
  if (submits && handsOn(control).random(3) === 0) await control.dblclick()
  else await control.click()
}

/** Taps a point, as often as `times`, with a finger where the page has touch. */
export async function tapAt(page: Page, { x, y }: Point, times: number, isTouch: boolean) {
  for (let n = 1; n <= times; n++) {
    if (isTouch) await page.touchscreen.tap(x, y)
    else await page.mouse.click(x, y, { clickCount: n })
  }
}

/** Taps a point twice within 120 ms, as the browser sees it, however slow the machine is. */
export async function doubleTap(page: Page, point: Point): Promise<void> {
  const finger = await page.context().newCDPSession(page)
  const now = Date.now() / 1000
  for (const since of [0, 0.12]) {
    const touch = (type: 'touchStart' | 'touchEnd', timestamp: number) =>
      finger.send('Input.dispatchTouchEvent', {
        ...{ type, timestamp },
        touchPoints: type === 'touchStart' ? [point] : [],
      })
    await touch('touchStart', now + since)
    await touch('touchEnd', now + since + 0.03)
  }
  await finger.detach()
}

/** Pastes a text with what messengers add to it. Returns the text that was pasted. */
export async function paste(field: Locator, text: string): Promise<string> {
  const page = field.page()
  const added = handsOn(field).pick(MESSENGERS)?.(text) ?? text
  await copy(page, added)
  await page.bringToFront()
  await field.focus()
  await page.keyboard.press('ControlOrMeta+V')
  return added
}

/** Drops a text that was dragged from elsewhere into a field. */
export async function drop(field: Locator, text: string): Promise<void> {
  const page = field.page()
  const box = await field.boundingBox()
  if (!box) throw new Error('the field is not on the screen')
  const point = { x: box.x + 20, y: box.y + box.height / 2 }
  const items = [{ mimeType: 'text/plain', data: text }]
  const mouse = await page.context().newCDPSession(page)
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    const data = { items, dragOperationsMask: 1 }
    await mouse.send('Input.dispatchDragEvent', { type, ...point, data })
  }
  await mouse.detach()
}

/** Turns the device on its side, or back. */
export async function rotate(page: Page): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  await page.setViewportSize({ width: height, height: width })
}

/** Gives a page hands whose slips follow from `seed`, whichever test it is in. */
export function giveHands(page: Page, seed: string): void {
  known.set(page, new Hands(page, seed))
}

type Point = { x: number; y: number }

const NBSP = '\u00a0'

/** What a text has around it and in it when it comes from a messenger. */
const MESSENGERS: readonly ((text: string) => string)[] = [
  (text) => `${text}\r\n\r\n`,
  (text) => `\u200e${text}\u200b`,
  (text) => `От кого: Анна\n${text}`,
  (text) => text.replaceAll(' ', NBSP),
  (text) => `\u202a${text}\u202c`,
  (text) => `\ufeff${text} `,
]

const known = new WeakMap<Page, Hands>()

function handsOn(field: Locator): Hands {
  const page = field.page()
  const hands = known.get(page) ?? new Hands(page)
  known.set(page, hands)
  return hands
}

/** The hands of one person at one page. Their slips depend on the seed and the test alone. */
class Hands {
  readonly #page: Page
  readonly #browser: Promise<CDPSession>
  #state: number

  constructor(page: Page, seed = `${SEED} ${expect.getState().currentTestName}`) {
    this.#page = page
    this.#browser = page.context().newCDPSession(page)
    this.#state = hash(seed)
  }

  /** Returns an integer from 0 to `below` - 1 (xorshift32). */
  random(below: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % below
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.random(items.length)]
  }

  async type(text: string): Promise<void> {
    // The key Tab would leave the field.
    if (text.length > LONGEST_BY_KEYS || text.includes('\t')) return this.byWords(text)
    await this.pick(TYPISTS)?.(this, text)
  }

  async typeDigits(digits: string): Promise<void> {
    const at = this.random(digits.length)
    await this.byKeys(digits.slice(0, at))
    // A slip in the last digit would submit a wrong code.
    if (at < digits.length - 1 && this.random(2) === 0) {
      await this.byKeys(wrong(digits.slice(at)))
      await this.press('Backspace')
    }
    await this.byKeys(digits.slice(at))
  }

  async deleteAll(length: number): Promise<void> {
    if (length < 10 && this.random(2) === 0) {
      await this.press('End')
      for (let left = length; left > 0; left--) await this.press('Backspace')
    } else {
      await this.press('ControlOrMeta+a')
      await this.press('Delete')
    }
  }

  async byKeys(text: string): Promise<void> {
    for (const letters of this.#bursts(text)) {
      const browser = await this.#browser
      await Promise.all(
        keyEvents(letters).map((event) => browser.send('Input.dispatchKeyEvent', event)),
      )
      await this.#page.waitForTimeout(this.random(PAUSE_MS))
    }
  }

  async byWords(text: string): Promise<void> {
    for (const word of text.split(/(?<=\s)/)) await this.#page.keyboard.insertText(word)
  }

  async byComposition(text: string): Promise<void> {
    const browser = await this.#browser
    for (const word of text.split(/(?<=\s)/)) {
      for (let end = 1; end <= word.length; end++) {
        const composed = { selectionStart: end, selectionEnd: end, text: word.slice(0, end) }
        await browser.send('Input.imeSetComposition', composed)
      }
      await browser.send('Input.insertText', { text: word })
    }
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key)
  }

  *#bursts(text: string): Generator<string[]> {
    const letters = [...text]
    while (letters.length > 0) yield letters.splice(0, 1 + this.random(8))
  }
}

const TYPISTS: readonly Typist[] = [
  (hands, text) => hands.byKeys(text),

  async function correctsByBackspace(hands, text) {
    const [before, after] = parted(hands, text)
    await hands.byKeys(`${before}${wrong(after)}`)
    await hands.press('Backspace')
    await hands.byKeys(after)
  },

  async function insertsWhatWasLeftOut(hands, text) {
    const [before, after] = parted(hands, text)
    const [left = '', ...rest] = after
    await hands.byKeys(before + rest.join(''))
    for (const _ of rest) await hands.press('ArrowLeft')
    await hands.byKeys(left)
    for (const _ of rest) await hands.press('ArrowRight')
  },

  async function overtypes(hands, text) {
    const [before, after] = parted(hands, text)
    await hands.byKeys(`${before}${wrong(after)}`)
    await hands.press('Shift+ArrowLeft')
    await hands.byKeys(after)
  },

  (hands, text) => hands.byWords(text),
  (hands, text) => hands.byComposition(text),
]

/** Splits a text before one of its letters. */
function parted(hands: Hands, text: string): [before: string, after: string] {
  const letters = [...text]
  const at = hands.random(Math.max(letters.length, 1))
  return [letters.slice(0, at).join(''), letters.slice(at).join('')]
}

/** Returns a letter beside the right one, of the same kind, so that any field takes it. */
function wrong(text: string): string {
  const [right = ''] = text
  if (/\d/.test(right)) return String((Number(right) + 1) % 10)
  return /[a-z]/i.test(right) ? 'e' : 'у'
}

function keyEvents(letters: string[]) {
  return letters.flatMap((letter) => {
    const key = letter === '\n' ? 'Enter' : letter
    const text = letter === '\n' ? '\r' : letter
    return [{ type: 'keyDown', key, text } as const, { type: 'keyUp', key } as const]
  })
}

/** FNV-1a, never 0. */
function hash(text: string): number {
  let sum = 2_166_136_261
  for (const letter of text) sum = Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 16_777_619)
  return sum | 1
}
