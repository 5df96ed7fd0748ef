import { pageAt } from '../../contract/pages.ts'
import { createAtom, createEmitter, type ReadableAtom } from '../platform/atom.ts'
import { isNumber, isString, shape } from '../platform/guards.ts'
import { onHide } from '../platform/timing.ts'
import { closeModal } from '../ui/overlay/open-modal.ts'
import { savePlace } from './scroll-places.ts'

export type Dialog =
  /** `over` opens again if the sign-in is closed. */
  | { name: 'sign-in'; over?: Dialog }
  | { name: 'new-post' }
  | { name: 'reply'; postId: string }
  | { name: 'edit'; postId: string }
  | { name: 'clarify'; postId: string }
  | { name: 'delete'; postId: string; rewrites?: true }
  | { name: 'report'; postId: string }
  | { name: 'session'; sessionId: string }
  | { name: 'close-other-sessions' }
  | { name: 'appeal'; postId: string }
  | { name: 'block-author'; postId: string }
  | { name: 'remove-post'; postId: string }
  | { name: 'shortcuts' }

type EntryState = {
  /** Identifies the page. The entries of its dialogs have the same key. */
  key: string
  /** The number of entries of this app before it. */
  index: number
  dialog?: Dialog
  from?: string
}

export type Entry = {
  pathname: string
  search: string
  hash: string
  key: string
  /** Whether the person came back to the entry, or reloaded it. */
  isReturn: boolean
  /** The path of the page that led to it, unless the browser loaded it. */
  from?: string | undefined
}

const STEP_BACK_MAX_MS = 1000

const dialog = createAtom<Dialog | null>(null)
const changes = createEmitter()
let entry: Entry | undefined
let restored: Dialog | null = null
let stepBack: PromiseWithResolvers<void> | undefined
let closeLoading: (left: Dialog) => void = () => {}

export const openedDialog: ReadableAtom<Dialog | null> = dialog

export const onEntryChange = changes.subscribe

export function currentEntry(): Entry {
  entry ??= readEntry(true)
  return entry
}

/** Starts to follow the browser's history. Call it once, before the first render. */
export function startHistory(): void {
  // A browser would scroll before the page of the entry is shown.
  history.scrollRestoration = 'manual'
  // Browsers keep the state if the address is entered again, which is a new visit.
  const isAnew = loadedBy()?.type === 'navigate'
  const state = readState()
  write('replaceState', isAnew ? newState(state.index) : state)
  entry = readEntry(true)
  restoreDialog(readState().dialog ?? null)
  addEventListener('popstate', onPopState)
  onHide(saveForReload)
}

/** Returns false if the person went back before the scripts ran, which changes the address. */
export function isAsOpened(): boolean {
  const opened = new URL(loadedBy()?.name ?? location.href)
  return opened.pathname === location.pathname && opened.search === location.search
}

/** Opens a page. An open dialog closes, and leaves its entry to the page. */
export function navigate(to: string): void {
  whenDialogIsClosed(() => {
    const { href } = new URL(to, location.href)
    const isInPlace = dialog.get() !== null || href === location.href
    const state = newState(readState().index + (isInPlace ? 0 : 1))
    state.from = currentEntry().pathname
    write(isInPlace ? 'replaceState' : 'pushState', state, href)
    closeLeftDialog()
    showEntry(readEntry(false))
  })
}

/** Opens a page in the place of the current one. An open dialog stays. */
export function replacePage(to: string): void {
  whenDialogIsClosed(() => {
    const { href } = new URL(to, location.href)
    const open = dialog.get()
    const state = newState(readState().index)
    state.from = currentEntry().pathname
    if (open) state.dialog = open
    write('replaceState', state, href)
    showEntry(readEntry(false))
  })
}

/** Opens pages on plain clicks on links, without a load. Returns the function that stops this. */
export function followLinks(): () => void {
  document.addEventListener('click', followLink)
  return () => document.removeEventListener('click', followLink)
}

function followLink(event: MouseEvent): void {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event
  const link = target instanceof Element && target.closest('a')
  const isPlain = button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey
  if (!link || !isPlain || event.defaultPrevented || !leadsToPage(link)) return
  event.preventDefault()
  navigate(link.href)
}

/** Returns whether a link opens a page of the app in this tab, and not a place on a page. */
function leadsToPage({ target, origin, pathname, hash }: HTMLAnchorElement): boolean {
  return target === '' && origin === location.origin && hash === '' && pageAt(pathname) !== null
}

/** Leaves the page at `path`, unless the person has left it: goes back to `to`, or becomes it. */
export function leave(path: string, to: string): void {
  whenDialogIsClosed(() => {
    if (location.pathname !== path) return
    const before = entryBefore()
    const isBefore = before?.sameDocument && before.url === new URL(to, location.href).href
    if (isBefore) takeStepBack()
    else replacePage(to)
  })
}

/** Goes back, or to `otherwise` if the previous entry is not a page of the app. */
export function goBack(otherwise: string): void {
  whenDialogIsClosed(() => {
    // The second tap on a slow device, which would lead out of the app.
    if (location.pathname === otherwise) return
    // A link followed before the scripts ran has no index; a new tab has a referrer too.
    const isReferred = document.referrer.startsWith(`${location.origin}/`)
    const isLinked = globalThis.navigation?.canGoBack && isReferred
    if (readState().index > 0 || isLinked) takeStepBack()
    else navigate(otherwise)
  })
}

/** Opens a dialog in a history entry of its own, or in the entry of the open dialog. */
export function openDialog(opened: Dialog): void {
  whenDialogIsClosed(() => {
    const { index, ...state } = readState()
    if (state.dialog) write('replaceState', { ...state, index, dialog: opened })
    else write('pushState', { ...state, index: index + 1, dialog: opened })
    dialog.set(opened)
  })
}

/** Closes a dialog and steps back. Returns false if another dialog has replaced it. */
export function closeDialog(closed: Dialog): boolean {
  if (dialog.get() !== closed) return false
  const { dialog: own, ...state } = readState()
  dialog.set(null)
  if (own) {
    write('replaceState', state)
    takeStepBack()
  }
  return true
}

/** Reloads the page below the open dialog, which stays in sight meanwhile. */
export function reloadBelowDialog(): void {
  const { dialog: own, ...state } = readState()
  if (own) {
    write('replaceState', state)
    removeEventListener('popstate', onPopState)
    addEventListener('popstate', () => {
      stepBack?.resolve()
      stepBack = undefined
    })
    takeStepBack()
  }
  whenDialogIsClosed(() => location.reload())
}

/** Steps back. The browser may drop the step, so whenDialogIsClosed() waits a second at most. */
function takeStepBack(): void {
  const step = Promise.withResolvers<void>()
  stepBack = step
  const before = entryBefore()
  // Uses the key: if the person goes back too, history.back() would be a second step.
  if (before) void Promise.allSettled(Object.values(navigation.traverseTo(before.key)))
  else history.back()
  setTimeout(() => {
    if (stepBack === step) stepBack = undefined
    step.resolve()
  }, STEP_BACK_MAX_MS)
}

/** Returns the entry before the current one, if the browser has the Navigation API. */
function entryBefore(): NavigationHistoryEntry | undefined {
  const { navigation } = globalThis
  return navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1]
}

/** Sets the function that closes a dialog if the person goes back before it has loaded. */
export function onLeaveLoading(close: (left: Dialog) => void): void {
  closeLoading = close
}

/** Returns whether a reload or a step through the history opened the dialog. */
export function isRestored(opened: Dialog): boolean {
  return opened === restored
}

/** Treats the restored dialog like any other from now on. */
export function acceptRestored(): void {
  restored = null
}

/** Runs `action` as soon as the entry of a closed dialog is left, or after a second. */
export function whenDialogIsClosed(action: () => void): void {
  // The action that ran before may have stepped back too.
  if (stepBack) void stepBack.promise.then(() => whenDialogIsClosed(action))
  else action()
}

function onPopState(): void {
  const done = stepBack
  stepBack = undefined
  const state = readState()
  // The person made the entry by editing the fragment of the address.
  if (!isEntryState(history.state)) write('replaceState', state)
  const { key, dialog: next = null } = state
  if (JSON.stringify(next) !== JSON.stringify(dialog.get())) {
    if (!done) closeLeftDialog()
    restoreDialog(next)
  }
  if (key !== currentEntry().key) showEntry(readEntry(true))
  done?.resolve()
}

/** Closes the dialog of an entry that is no longer current, so that no step back is needed. */
function closeLeftDialog(): void {
  const left = dialog.get()
  if (left === null) return
  if (!closeModal()) closeLoading(left)
  dialog.set(null)
}

function restoreDialog(next: Dialog | null): void {
  restored = next
  dialog.set(next)
}

function saveForReload(): void {
  savePlace(currentEntry().key, true)
}

function showEntry(next: Entry): void {
  savePlace(currentEntry().key, false)
  entry = next
  changes.emit()
}

function readEntry(isReturn: boolean): Entry {
  const { pathname, search, hash } = location
  const { key, from } = readState()
  return { pathname, search, hash, key, isReturn, from }
}

function readState(): EntryState {
  const { state } = history
  return isEntryState(state) ? state : newState(0)
}

/** Writes the entry. Loads the page if the browser refuses, as it does after too many changes. */
function write(how: 'pushState' | 'replaceState', state: EntryState, href = location.href): void {
  try {
    history[how](state, '', href)
  } catch {
    location.assign(href)
  }
}

function newState(index: number): EntryState {
  return { key: Math.random().toString(36).slice(2), index }
}

const isEntryState = shape<EntryState>({ key: isString, index: isNumber })

function loadedBy(): PerformanceNavigationTiming | undefined {
  return performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined
}
