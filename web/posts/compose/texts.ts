import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import { isShortLimit } from '../../http/call-error.ts'
import { isNumber, isString, shape } from '../../platform/guards.ts'
import { tabId } from '../../platform/ids.ts'
import { localStore, storedElsewhere } from '../../platform/storage.ts'
import { TEXT } from '../../platform/stored-keys.ts'
import { withLock } from '../../platform/tabs.ts'
import { keptTexts } from '../../session/kept-texts.ts'
import { isSessionClosed, viewer, viewerId } from '../../session/viewer.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { sendText } from './compose.queries.ts'
import { convertOldTexts } from './old-texts.ts'
import { type Text, textPrefix, textsChanged } from './stored-texts.ts'
import { afterFailure, errorOf, LONGEST_PAUSE_MS } from './text-failures.ts'
import { isSame } from './written.ts'

/** The time for which a tab leaves a text to the tab that shows it. */
const LATER_MS = 5000
/** The longest wait of a text. The server remembers for a day which texts it has published. */
const LONGEST_WAIT_MS = 23 * 3_600_000
const TOO_OLD = 'Запись ждала дольше суток. Если она ещё нужна, отправьте её снова'

const isText = shape<Text>({
  id: isString,
  by: isString,
  target: isString,
  text: isString,
  tab: isString,
  at: isNumber,
  state: isString,
  until: isNumber,
  tries: isNumber,
})

convertOldTexts()

let all: readonly Text[] = readAll()
let isStarted = false
let timer: ReturnType<typeof setTimeout> | undefined
let isSending = false

textsChanged.subscribe(() => {
  all = readAll()
  if (isStarted) schedule()
})
// What was submitted is stored again after all data of the site was cleared.
storedElsewhere.subscribe(({ key }) => key === null && all.filter(isSubmitted).forEach(store))

/** The texts of all authors that this browser holds, oldest first. */
export const texts = { get: () => all, subscribe: textsChanged.subscribe }

/** Returns an author's texts for a target, newest first. */
export function textsAt(place: Pick<Text, 'by' | 'target'>): Text[] {
  return all.filter(({ by, target }) => by === place.by && target === place.target).reverse()
}

export const isSubmitted = ({ state }: Text) => state !== 'draft'
export const isPending = ({ state }: Text) => state === 'sending' || state === 'waiting'

/** Returns whether a text is a draft that is not empty. */
export const isDraft = (text: Text) => text.state === 'draft' && !isSame(text, EMPTY_POST_BODY)

/** Returns whether the browser could not store a text, which is then lost with the page. */
export const isUnsaved = (text: Text) => localStore.isUnsaved(keyOf(text))

export function put(text: Text): void {
  store(text)
  textsChanged.emit()
}

/** Changes a text unless it is gone: another tab may have sent it. */
export function change(text: Text, changes: Partial<Text>): void {
  const now = readNow(text)
  if (now) put({ ...now, ...changes })
}

export function remove(text: Text): void {
  for (const { remove } of [localStore, keptTexts]) remove(keyOf(text))
  textsChanged.emit()
}

export const keyOf = (text: Text) => textPrefix(text) + text.id

function store(text: Text): void {
  const isKept = !isSubmitted(text) && isSessionClosed()
  const [to, from] = isKept ? [keptTexts, localStore] : [localStore, keptTexts]
  to.writeJson(keyOf(text), text)
  from.remove(keyOf(text))
}

function readNow(text: Text): Text | null {
  return localStore.readJson(keyOf(text), isText) ?? keptTexts.readJson(keyOf(text), isText)
}

function readAll(): Text[] {
  return [localStore, keptTexts]
    .flatMap((store) => store.keys(TEXT).flatMap((key) => store.readJson(key, isText) ?? []))
    .sort((one, other) => one.at - other.at)
}

/**
 * Sends waiting texts while any tab of their author is open. If the browser has locks, only one tab
 * sends at a time; otherwise the key keeps the server from publishing a text twice.
 */
export function startSending(): void {
  if (isStarted) return
  isStarted = true
  viewer.subscribe(schedule)
  document.addEventListener('visibilitychange', schedule)
  addEventListener('online', sendAtOnce)
  schedule()
}

function schedule(): void {
  clearTimeout(timer)
  const times = all.filter(isSendable).map(dueAt)
  if (times.length > 0) timer = setTimeout(sendDue, Math.min(...times) - Date.now())
}

/** Sends all texts at once when the network is back, except texts that wait for a limit. */
function sendAtOnce(): void {
  for (const text of all.filter(isSendable)) {
    if (!isShortLimit(errorOf(text))) change(text, { until: Date.now() })
  }
}

/** Returns whether the text may be sent. Another author's text waits until that author signs in. */
function isSendable(text: Text): boolean {
  return isPending(text) && text.by === viewerId()
}

function dueAt({ until, tab }: Text): number {
  const isFirst = tab === tabId() || (tab === '' && document.visibilityState === 'visible')
  // Anything further ahead was written before the device's clock was set back.
  const isReal = until <= Date.now() + LONGEST_PAUSE_MS
  return (isReal ? until : 0) + (isFirst ? 0 : LATER_MS)
}

async function sendDue(): Promise<void> {
  if (isSending) return
  isSending = true
  // A browser that blocks the storage refuses locks too.
  try {
    await withLock(TEXT, {}, sendAllDue).catch(sendAllDue)
  } finally {
    isSending = false
    schedule()
  }
}

async function sendAllDue(): Promise<void> {
  const isDue = (text: Text) => isSendable(text) && dueAt(text) <= Date.now()
  for (let next = readAll().find(isDue); next; next = readAll().find(isDue)) await attempt(next)
}

async function attempt(text: Text): Promise<void> {
  if (Date.now() - text.at > LONGEST_WAIT_MS) {
    const failure = { code: 'TIMEOUT', message: TOO_OLD, status: 0 } as const
    return change(text, { at: Date.now(), state: 'refused', failure })
  }
  try {
    const result = await sendText(text)
    const sent = readNow(text)
    // A person who has stopped it may have written something else by now.
    if (sent && isSame(sent, text)) remove(sent)
    // After the dialog has closed: shown in it and then on the page, it would be announced twice.
    toast(result)
  } catch (error) {
    const failed = readNow(text)
    if (failed && isPending(failed)) put(afterFailure(failed, error))
  }
}

/** Counts the drafts of a user, and the texts that wait. */
export function countUnsentTexts(userId: string): number {
  return all.filter(({ by, text }) => by === userId && text !== '').length
}
