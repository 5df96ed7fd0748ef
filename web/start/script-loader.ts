import { pageFlags } from '../platform/flags.ts'
import { isOwn } from '../platform/own-target.ts'
import { whenIdle } from '../platform/timing.ts'

/** The paths of the app's scripts. The first script is the entry, which imports the others. */
declare const SCRIPTS: [string, ...string[]]
/** The style sheet whose rules the page has inline. */
declare const SHEET: string

declare global {
  /** Ends the wait, and repeats the presses. With a failure, the page stays static. */
  var endWait: ((failure?: unknown) => void) | undefined
}

// This script in the head of a rendered page loads the app's scripts at the first sign of use, or,
// unless bytes are spared, when the browser is idle: for a user or a return at the first paint.
const LATEST_MS = 1500
const flags = pageFlags()
const held = new Set<HTMLButtonElement>()
const holding = new AbortController()
let hasBegun = false

function load(): void {
  if (hasBegun) return
  hasBegun = true
  flags.static = 'loading'
  // This link keeps Vite from loading the sheet again for lazy chunks. It is not in the HTML,
  // because Chromium before 2026 would fetch it there although it is disabled.
  addToHead('link', { rel: 'stylesheet', disabled: true, href: SHEET })
  for (const href of SCRIPTS) addToHead('link', { rel: 'modulepreload', crossOrigin: '', href })
  addToHead('script', { type: 'module', crossOrigin: '', src: SCRIPTS[0], onerror: endWait })
}

function addToHead(name: string, attributes: Record<string, unknown>): void {
  document.head.append(Object.assign(document.createElement(name), attributes))
}

function endHold(): void {
  holding.abort()
  for (const button of held) button.removeAttribute('data-held')
}

function onClick(event: MouseEvent): void {
  const { target } = event
  // The browser handles links and forms by itself.
  if (!isOwn(target) || target.closest('a,form')) return
  const button = target.closest('button')
  const card = target.closest('article')
  if (button) hold(button, event)
  else if (card) openPost(card, event)
  else load()
}

function onKeyDown(event: KeyboardEvent): void {
  const { target, key } = event
  if (!isOwn(target)) return
  // Enter in what a browser extension has added to a card is not a press on the card.
  if (key === 'Enter' && target.matches('article')) openPost(target, event)
  else if (!target.closest(key === 'Enter' ? 'a,form' : 'form')) load()
}

function onMouseMove({ target, movementX, movementY }: MouseEvent): void {
  // A resting pointer reports a move of zero length.
  if ((movementX || movementY) && isOwn(target) && !target.closest('form')) load()
}

/** Opens the post of a card by its link, as the app does later. The post of a page has no link. */
function openPost(card: Element, event: MouseEvent | KeyboardEvent): void {
  const link = card.querySelector('a:has(time)')
  if (!link) {
    load()
    return
  }
  event.stopImmediatePropagation()
  if (!getSelection()?.isCollapsed) return
  if (!event.ctrlKey && !event.metaKey) card.setAttribute('data-held', '')
  // «Назад» may restore the page as it was left.
  addEventListener('pagehide', () => card.removeAttribute('data-held'))
  link.dispatchEvent(new MouseEvent('click', event))
}

/** Keeps a press until the app can take it. The second press of a toggle takes the first one back. */
function hold(button: HTMLButtonElement, event: MouseEvent): void {
  load()
  event.stopImmediatePropagation()
  if (button.ariaPressed && held.delete(button)) button.removeAttribute('data-held')
  else {
    held.add(button)
    button.dataset.held = ''
  }
}

globalThis.endWait = (failure) => {
  // React hydrates a boundary that is pressed, but not within the effect that calls this.
  if (!failure) return queueMicrotask(release)
  console.error(failure)
  leaveStatic()
}

function release(): void {
  endHold()
  for (const button of held) inPage(button)?.click()
}

function inPage(pressed: HTMLButtonElement): HTMLButtonElement | undefined {
  if (pressed.isConnected) return pressed
  const name = nameOf(pressed)
  return [...document.querySelectorAll<HTMLButtonElement>('#root button')].find(
    (it) => nameOf(it) === name,
  )
}

function nameOf(button: Element): string {
  const post = button.closest<HTMLElement>('article')
  return `${post?.dataset.postId} ${button.ariaLabel ?? button.textContent}`
}

function leaveStatic(): void {
  endHold()
  flags.static = ''
  addEventListener('online', () => isAnythingTyped() || location.reload())
}

function isAnythingTyped(): boolean {
  return [...document.querySelectorAll<HTMLInputElement>('#root input')].some(
    (it) => it.value !== it.defaultValue,
  )
}

function waitForUse(): void {
  flags.static = 'held'
  const options = { capture: true, signal: holding.signal }
  addEventListener('click', onClick, options)
  addEventListener('keydown', onKeyDown, options)
  addEventListener('mousemove', onMouseMove, options)
  addEventListener('scroll', () => scrollY > innerHeight && load(), options)
  const isAtOnce = 'session' in flags || history.state
  if (!isAtOnce && 'sparing' in flags) return
  try {
    new PerformanceObserver(() => (isAtOnce ? load() : whenIdle(load, LATEST_MS))).observe({
      type: 'paint',
      buffered: true,
    })
  } catch {}
  // A hidden page is never painted.
  addEventListener('load', () => setTimeout(load, LATEST_MS))
}

// Otherwise the browser is too old.
if (flags.static) waitForUse()
