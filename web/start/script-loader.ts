import { shortcutOf } from '../platform/shortcut-of.ts'
import { whenIdle } from '../platform/timing.ts'

/** The first one is the entry, which imports the others. */
declare const SCRIPTS: [string, ...string[]]
/** The style of what the scripts add to a page. */
declare const SHEET: string

declare global {
  /** Hands what was pressed over to the app; if it cannot be loaded, leaves the page as it came. */
  var endWait: ((failure?: unknown) => void) | undefined
}

// This script stands in the head of a rendered page, and fetches the app's scripts at the first
// sign of use, or when the browser has painted the page and is idle; where bytes are spared, only
// by use. A signed-in person gets them at the paint, as does who comes back to where they ran.
const LATEST_MS = 1500
const { dataset } = document.documentElement
const held = new Map<EventTarget, Event>()
const holding = new AbortController()
let hasBegun = false

function load(): void {
  if (hasBegun || 'old' in dataset) return
  hasBegun = true
  for (const href of SCRIPTS) add('link', { rel: 'modulepreload', crossOrigin: '', href })
  const start = () =>
    add('script', { type: 'module', crossOrigin: '', src: SCRIPTS[0], onerror: endWait })
  add('link', { rel: 'stylesheet', href: SHEET, onload: start, onerror: endWait })
}

function add(name: string, attributes: Record<string, unknown>): void {
  document.head.append(Object.assign(document.createElement(name), attributes))
}

function endHold(): void {
  holding.abort()
  for (const it of held.keys()) if (it instanceof Element) it.removeAttribute('data-held')
}

function onUse(event: MouseEvent | KeyboardEvent): void {
  const { target, type } = event
  const key = 'key' in event ? event.key : ''
  const opens = type === 'click' || key === 'Enter'
  // The browser answers links and forms by itself.
  if (!(target instanceof Element) || target.closest(opens ? 'a,form' : 'form')) return
  const button = target.closest('button')
  const link = !button && opens && target.closest('article')?.querySelector('a:has(time)')
  if (link) {
    event.stopImmediatePropagation()
    if (getSelection()?.isCollapsed) link.dispatchEvent(new MouseEvent('click', event))
    return
  }
  load()
  if (button && type === 'click') {
    event.stopImmediatePropagation()
    // The second tap on a toggle takes the first one back.
    if (button.ariaPressed && held.delete(button)) button.removeAttribute('data-held')
    else {
      held.set(button, event)
      button.dataset.held = ''
    }
  } else if ('key' in event && isShortcut(event) && !held.has(document)) {
    // What is typed after a shortcut is meant for what it opens.
    event.stopImmediatePropagation()
    held.set(document, event)
  }
}

/** Whether the app knows the key: another one must not keep a shortcut after it from being held. */
function isShortcut(event: KeyboardEvent): boolean {
  const pressed = shortcutOf(event) ?? ''
  return pressed === '?' || (/^Key[JKLNR]$/.test(pressed) && !('noLetters' in dataset))
}

globalThis.endWait = (failure) => {
  // React hydrates a boundary at a press inside it, but not within the effect that calls this.
  if (!failure) return queueMicrotask(release)
  console.error(failure)
  leaveStatic()
}

function release(): void {
  endHold()
  for (const [target, event] of held)
    inPage(target)?.dispatchEvent(Reflect.construct(event.constructor, [event.type, event]))
}

/** What was pressed, or the same button where the app has rendered the page anew. */
function inPage(pressed: EventTarget): EventTarget | undefined {
  if (!(pressed instanceof Element) || pressed.isConnected) return pressed
  const name = nameOf(pressed)
  return [...document.querySelectorAll('button')].find((it) => nameOf(it) === name)
}

/** The name of a button, with the post that it acts on. */
function nameOf(button: Element): string {
  const post = button.closest<HTMLElement>('article')
  return `${post?.dataset.postId} ${button.ariaLabel ?? button.textContent}`
}

function leaveStatic(): void {
  endHold()
  dataset.static = ''
  addEventListener('online', () => isAnythingTyped() || location.reload())
}

function isAnythingTyped(): boolean {
  return [...document.querySelectorAll('input')].some((it) => it.value !== it.defaultValue)
}

dataset.static = 'held'
const options = { capture: true, signal: holding.signal }
addEventListener('click', onUse, options)
addEventListener('keydown', onUse, options)
// A pointer at rest reports a move too, of no length, when the page comes under it.
addEventListener('mousemove', (move) => (move.movementX || move.movementY) && onUse(move), options)
addEventListener('scroll', () => scrollY > innerHeight && load(), options)

const isAtOnce = 'session' in dataset || history.state
if (isAtOnce || !('sparing' in dataset)) {
  try {
    new PerformanceObserver(() => (isAtOnce ? load() : whenIdle(load, LATEST_MS))).observe({
      type: 'paint',
      buffered: true,
    })
  } catch {}
  // A hidden page is never painted.
  addEventListener('load', () => setTimeout(load, LATEST_MS))
}
