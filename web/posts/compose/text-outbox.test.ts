import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { makePost } from '../../../contract/post.fixture.ts'
import {
  type AnsweringServer,
  refusal,
  startAnsweringServer,
} from '../../testing/answering-server.ts'

// A page of its own: tests of other files have emptied the cache that theirs observes.
vi.resetModules()
const { queryClient } = await import('../../http/query-client.ts')
const { resetToken } = await import('../../session/token.ts')
const { textsChanged } = await import('./stored-drafts.ts')
const { findShown, outbox, submit } = await import('./text-outbox.ts')

const HOUR_MS = 3_600_000
const TEXT = { by: '7', key: 'k'.repeat(32), target: 'new', text: 'Дойдёт' } as const
/** What is not JSON is not an answer of the server. */
const PORTAL = { headers: { 'content-type': 'text/html' } }

let server: AnsweringServer
/** The answers to the next calls; the following ones publish a post. */
let answers: ReturnType<typeof refusal>[]
let id = 0

beforeEach(async () => {
  server = await startAnsweringServer()
  server.answer = () => answers.shift() ?? { status: 201, body: makePost(String(++id)) }
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
  vi.stubGlobal('addEventListener', () => {})
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  queryClient.setQueryData(['viewer'], { state: 'authorized', user: { id: TEXT.by } })
  onTestFinished(() => {
    resetToken('unknown')
    queryClient.clear()
  })
})

/** Returns the keys of the publications that were sent until nothing waits any more. */
async function sentKeys(): Promise<unknown[]> {
  while (outbox.get().length > 0) {
    const waits = outbox.get().map(({ until }) => until - Date.now())
    // While a call is in flight, no wait has begun.
    vi.advanceTimersByTime(1 + Math.max(0, ...waits.filter((ms) => ms < HOUR_MS)))
    await new Promise(setImmediate)
  }
  return server.received.flatMap(({ call, key }) => (call.endsWith('/posts') ? [key] : []))
}

test.each([
  ['an error of the server', refusal('INTERNAL_ERROR')],
  ['a page of a captive portal', { status: 200, ...PORTAL }],
  ['a refusal of a captive portal', { status: 403, ...PORTAL }],
  ['a limit of a proxy', { status: 429, ...PORTAL }],
])('a text is sent again after %s', async (_what, answer) => {
  answers = [answer]
  const done = submit(TEXT)
  expect(await sentKeys()).toEqual([TEXT.key, TEXT.key])
  await done
})

test('the same text that is submitted while it waits is published once', async () => {
  answers = [refusal('UNAVAILABLE')]
  const both = [submit(TEXT), submit({ ...TEXT, key: 'o'.repeat(32) })]
  expect(await sentKeys()).toEqual([TEXT.key, TEXT.key])
  await Promise.all(both)
})

test.each([5, 30 * 24])(
  'a text that was submitted while the clock was %i hours fast is sent once it is right',
  async (hours) => {
    answers = []
    const now = Date.now()
    const at = now + hours * HOUR_MS
    const entry = { ...TEXT, tab: '', at, until: at + 2000, tries: 1 }
    localStorage.setItem(`outbox ${TEXT.by} ${TEXT.key}`, JSON.stringify(entry))
    textsChanged.emit()
    expect(await sentKeys()).toEqual([TEXT.key])
    expect(Date.now() - now).toBeLessThan(HOUR_MS / 60)
  },
)

test('an edit that is refused because an earlier answer was lost counts as saved', async () => {
  const saved = { ...makePost('1'), text: TEXT.text }
  answers = [refusal('INVALID_REQUEST'), { status: 200, body: saved }]
  const done = submit({ ...TEXT, target: 'edit 1' })
  await sentKeys()
  await done
})

test('a form still shows its text if another tab writes the entry at the same time', async () => {
  answers = [refusal('UNAVAILABLE')]
  const done = submit(TEXT)
  const name = `outbox ${TEXT.by} ${TEXT.key}`
  const entry = JSON.parse(localStorage.getItem(name) ?? '')
  localStorage.setItem(name, JSON.stringify({ ...entry, tab: '' }))
  textsChanged.emit()
  expect(findShown(TEXT)).toMatchObject({ text: TEXT.text, tab: '' })
  await sentKeys()
  await done
})
