import { exactTime } from '../../format/time.ts'
import {
  CallError,
  type Failure,
  generalError,
  isShortLimit,
  isUnanswered,
} from '../../http/call-error.ts'
import { errorMessage } from '../../http/error-message.ts'
import { retryPause } from '../../http/query-client.ts'
import type { ReadableAtom } from '../../platform/atom.ts'
import { isNumber, isString, shape } from '../../platform/guards.ts'
import { tabId } from '../../platform/ids.ts'
import { localStore, storedElsewhere } from '../../platform/storage.ts'
import { withLock } from '../../platform/tabs.ts'
import { OUTBOX } from '../../session/stored-keys.ts'
import { viewer, viewerId } from '../../session/viewer.ts'
import { type SubmittedText, sendText } from './compose.queries.ts'
import { textsChanged } from './stored-drafts.ts'
import { isSame } from './written.ts'

/** A text that is being sent, or was refused and waits for its author. */
export type Outgoing = SubmittedText & {
  /** When it was submitted. All times are in unix milliseconds. */
  at: number
  /** The tab whose form shows the text, or ''. */
  tab: string
  /** When the next attempt is due, or allowed after a refused limit. `tries` counts attempts. */
  until: number
  tries: number
  /** Why the last attempt failed. */
  failure?: Failure
  isRefused?: boolean
}

const LONGEST_PAUSE_MS = 600_000
/** The longest pause while a form shows the text. */
const LONGEST_SHOWN_PAUSE_MS = 5000
/** The time for which a tab leaves a text to the tab that shows it. */
const LATER_MS = 5000
/** The longest wait of a text. The server remembers for a day which texts it has published. */
const LONGEST_WAIT_MS = 23 * 3_600_000
/** Temporary errors. INTERNAL_ERROR may be the page of a proxy or of a captive portal. */
const PASSING = new Set<string>(['UNAVAILABLE', 'INTERNAL_ERROR', 'OTHER_ACCOUNT'])
const A_WHILE_MS = 60_000
const TOO_OLD = 'Запись ждала дольше суток. Если она ещё нужна, отправьте её снова'

let all: readonly Outgoing[] | undefined
let isStarted = false
let timer: ReturnType<typeof setTimeout> | undefined
let isSending = false
/**
 * The keys of the texts that forms of this tab show, or are about to show. The field `tab` is not
 * enough, because another tab that writes an entry at the same time can undo its change.
 */
const shown = new Set<string>()

textsChanged.subscribe(() => {
  all = undefined
  if (isStarted) schedule()
})
// Stores the texts again after the storage was cleared, before any form stores its draft.
storedElsewhere.subscribe(({ key }) => key === null && outbox.get().forEach(store))

/** The texts of all authors that this browser holds, oldest first. */
export const outbox: ReadableAtom<readonly Outgoing[]> = {
  get: () => {
    all ??= readAll()
    return all
  },
  subscribe: textsChanged.subscribe,
}

/**
 * Sends waiting texts while any tab of their author is open. If the browser has locks, only one tab
 * sends at a time; otherwise the key keeps the server from publishing a text twice.
 */
export function startOutbox(): void {
  if (isStarted) return
  isStarted = true
  viewer.subscribe(schedule)
  document.addEventListener('visibilitychange', schedule)
  addEventListener('online', sendAtOnce)
  schedule()
}

/**
 * Submits a text. Resolves when the server has it. Rejects with the CallError of a refusal or, if
 * the person stops it, of the last attempt. A text that waits already is not sent twice.
 */
export function submit(text: SubmittedText): Promise<void> {
  startOutbox()
  const same = outbox
    .get()
    .find((it) => it.by === text.by && it.target === text.target && isSame(it, text))
  const now = Date.now()
  const anew = { ...text, key: same?.key ?? text.key, at: now, until: now, tries: 0 }
  const outgoing = { ...(same && !same.isRefused ? same : anew), tab: tabId() }
  shown.add(outgoing.key)
  put(outgoing)
  return whenDone(outgoing)
}

/** Waits until a text is sent or refused. Resolves and rejects like submit(). */
export function whenDone({ by, key }: Outgoing): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      const now = read(nameOf({ by, key }))
      if (now && !now.isRefused) return
      stop()
      if (now) reject(errorOf(now))
      else resolve()
    }
    const stop = textsChanged.subscribe(check)
    check()
  })
}

/** Stops sending a text, which then counts as refused: its form returns it to the draft. */
export function stopSending(outgoing: Outgoing): void {
  change(outgoing, { isRefused: true })
}

export function drop(outgoing: Outgoing): void {
  localStore.remove(nameOf(outgoing))
  textsChanged.emit()
}

/** Returns the text that a form of this tab shows, or is to show now. */
export function findShown({ by, target }: Pick<Outgoing, 'by' | 'target'>): Outgoing | undefined {
  const own = outbox.get().filter((it) => it.by === by && it.target === target)
  return own.find(({ key }) => shown.has(key)) ?? own.find(({ tab }) => tab === tabId())
}

/** Calls `opener` to open the form, which then shows this text. */
export function openText({ key }: Outgoing, opener: () => void): void {
  shown.add(key)
  opener()
}

/** Records whether a form of this tab shows the text. */
export function setShown(outgoing: Outgoing, isShown: boolean): void {
  if (isShown) shown.add(outgoing.key)
  else shown.delete(outgoing.key)
  change(outgoing, { tab: isShown ? tabId() : '' })
}

export function errorOf(outgoing: Outgoing): CallError {
  const { failure = generalError('UNAUTHORIZED') } = outgoing
  return new CallError({ ...failure, message: messageNow(failure, outgoing) })
}

/** Replaces the wait in the message, which was true at the refusal, with the time of its end. */
function messageNow({ message, retryAfter = 0 }: Failure, { until, isRefused }: Outgoing): string {
  const waited = Date.now() + retryAfter * 1000 - until
  if (!isRefused || retryAfter === 0 || waited < A_WHILE_MS) return message
  return message.replace(/через .+$/, exactTime(until / 1000))
}

function schedule(): void {
  clearTimeout(timer)
  const times = outbox.get().filter(isSendable).map(dueAt)
  if (times.length > 0) timer = setTimeout(sendDue, Math.min(...times) - Date.now())
}

/** Sends all texts at once when the network is back, except texts that wait for a limit. */
function sendAtOnce(): void {
  for (const outgoing of outbox.get().filter(isSendable)) {
    if (!isShortLimit(errorOf(outgoing))) change(outgoing, { until: Date.now() })
  }
}

/** Returns whether the text may be sent. Another author's text waits until that author signs in. */
function isSendable({ by, isRefused }: Outgoing): boolean {
  return by === viewerId() && !isRefused
}

function dueAt({ until, tab }: Outgoing): number {
  const isFirst = tab === tabId() || (tab === '' && document.visibilityState === 'visible')
  // Anything further ahead was written before the device's clock was set back.
  const isReal = until <= Date.now() + LONGEST_PAUSE_MS
  return (isReal ? until : 0) + (isFirst ? 0 : LATER_MS)
}

async function sendDue(): Promise<void> {
  if (isSending) return
  isSending = true
  // A browser that blocks the storage refuses locks too.
  await withLock(OUTBOX, {}, sendAllDue).catch(sendAllDue)
  isSending = false
  schedule()
}

async function sendAllDue(): Promise<void> {
  const isDue = (outgoing: Outgoing) => isSendable(outgoing) && dueAt(outgoing) <= Date.now()
  for (let next = readAll().find(isDue); next; next = readAll().find(isDue)) await attempt(next)
}

async function attempt(outgoing: Outgoing): Promise<void> {
  if (Date.now() - outgoing.at > LONGEST_WAIT_MS) return refuse(outgoing, TOO_OLD)
  try {
    await sendText(outgoing)
    drop(outgoing)
  } catch (error) {
    noteFailure(outgoing, error)
  }
}

/** Refuses a text, which the author can submit again as a new one. */
function refuse(outgoing: Outgoing, message: string): void {
  const failure = { code: 'TIMEOUT', message, status: 0 } as const
  change(outgoing, { at: Date.now(), failure, isRefused: true })
}

function noteFailure(outgoing: Outgoing, error: unknown): void {
  const known = error instanceof CallError ? error : generalError('INTERNAL_ERROR')
  const { code, status, retryAfter = 0 } = known
  const failure = { code, status, message: errorMessage(error), ...(retryAfter && { retryAfter }) }
  const rest = { failure, tries: outgoing.tries + 1 }
  const isShownAnew = shown.has(outgoing.key) && !outgoing.failure
  // Its author may be somebody else than who sits at the closed session: only a text that was
  // promised to be sent waits.
  if (isShownAnew && known.code === 'SESSION_CLOSED') change(outgoing, { ...rest, isRefused: true })
  else if (passes(error))
    change(outgoing, { ...rest, until: Date.now() + pauseAfter(error, outgoing) })
  else change(outgoing, { ...rest, until: Date.now() + retryAfter * 1000, isRefused: true })
}

/** Returns whether the failure passes by itself, or when the author signs in again. */
function passes(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  if (isUnanswered(error) || isShortLimit(error) || error.status === 401) return true
  // The API's own limits name their wait; a proxy's may not.
  if (error.code === 'TOO_MANY_REQUESTS') return error.retryAfter === undefined
  return PASSING.has(error.code)
}

function pauseAfter(error: unknown, { tries, tab }: Outgoing): number {
  if (isShortLimit(error)) return error.retryAfter * 1000
  const pause = retryPause(tries + 1, error, Math.random())
  return Math.min(pause, tab === '' ? LONGEST_PAUSE_MS : LONGEST_SHOWN_PAUSE_MS)
}

function nameOf({ by, key }: Pick<Outgoing, 'by' | 'key'>): string {
  return `${OUTBOX} ${by} ${key}`
}

function read(name: string): Outgoing | null {
  return localStore.readJson(name, isOutgoing)
}

function readAll(): Outgoing[] {
  return localStore
    .keys(OUTBOX)
    .flatMap((name) => read(name) ?? [])
    .sort((one, other) => one.at - other.at)
}

/** Changes a stored text. Does nothing if the text is gone: another tab may have sent it. */
function change(outgoing: Outgoing, changes: Partial<Outgoing>): void {
  const now = read(nameOf(outgoing))
  if (now) put({ ...now, ...changes })
}

function put(outgoing: Outgoing): void {
  store(outgoing)
  textsChanged.emit()
}

function store(outgoing: Outgoing): void {
  localStore.writeJson(nameOf(outgoing), outgoing)
}

const isOutgoing = shape<Outgoing>({
  key: isString,
  by: isString,
  target: isString,
  text: isString,
  tab: isString,
  at: isNumber,
  until: isNumber,
  tries: isNumber,
})
