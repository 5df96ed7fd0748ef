import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { makePost } from '../../../contract/post.fixture.ts'
import {
  type AnsweringServer,
  refusal,
  startAnsweringServer,
} from '../../testing/answering-server.ts'

import type { Text } from './stored-texts.ts'

// A page of its own: tests of other files have emptied the cache that theirs observes.
vi.resetModules()
const { queryClient } = await import('../../http/query-client.ts')
const { resetToken } = await import('../../http/token.ts')
const { readCachedPost } = await import('../cache/post-cache.ts')
const { OpenText } = await import('./open-text.ts')
const { convertOldTexts } = await import('./old-texts.ts')
const { textsChanged } = await import('./stored-texts.ts')
const { isPending, texts } = await import('./texts.ts')

const HOUR_MS = 3_600_000
const TEXT = { by: '7', target: 'new', text: 'Дойдёт' } as const
const KEY = 'k'.repeat(32)
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

/** Submits a text in a form that stays open. Returns a spy, which is called once it was sent. */
function submit({ target, text, ...place }: Pick<Text, 'by' | 'target' | 'text'> = TEXT) {
  const onSent = vi.fn()
  const open = new OpenText({ ...place, target })
  onTestFinished(open.follow(onSent))
  open.send({ text })
  return { open, onSent }
}

/** Returns the keys of the publications that were sent until nothing waits any more. */
async function sentKeys(): Promise<unknown[]> {
  while (texts.get().some(isPending)) {
    const waits = texts.get().map(({ until }) => until - Date.now())
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
  const { open, onSent } = submit()
  const key = open.get()?.sent?.key
  expect(await sentKeys()).toEqual([key, key])
  expect(onSent).toHaveBeenCalledOnce()
})

test('the same text that is submitted while it waits is published once', async () => {
  answers = [refusal('UNAVAILABLE')]
  const first = submit()
  const key = first.open.get()?.sent?.key
  first.open.follow(() => {})()
  const second = submit()
  expect(await sentKeys()).toEqual([key, key])
  expect(second.onSent).toHaveBeenCalledOnce()
})

test.each([5, 30 * 24])(
  'a text that was submitted while the clock was %i hours fast is sent once it is right',
  async (hours) => {
    answers = []
    const now = Date.now()
    const at = now + hours * HOUR_MS
    const entry = { ...TEXT, key: KEY, tab: '', at, until: at + 2000, tries: 1 }
    localStorage.setItem(`outbox ${TEXT.by} ${KEY}`, JSON.stringify(entry))
    convertOldTexts()
    textsChanged.emit()
    expect(await sentKeys()).toEqual([KEY])
    expect(Date.now() - now).toBeLessThan(HOUR_MS / 60)
  },
)

test('an edit that is refused because an earlier answer was lost counts as saved', async () => {
  const saved = { ...makePost('1'), text: TEXT.text }
  answers = [refusal('INVALID_REQUEST'), { status: 200, body: saved }]
  const { onSent } = submit({ ...TEXT, target: 'edit 1' })
  await sentKeys()
  expect(onSent).toHaveBeenCalledOnce()
})

test('a form still shows its text if another tab writes the record at the same time', async () => {
  answers = [refusal('UNAVAILABLE')]
  const { open, onSent } = submit()
  const [name = ''] = Object.keys(localStorage).filter((it) => it.startsWith('text '))
  const record = JSON.parse(localStorage.getItem(name) ?? '')
  localStorage.setItem(name, JSON.stringify({ ...record, tab: '' }))
  textsChanged.emit()
  expect(open.get()).toMatchObject({ text: TEXT.text, tab: '' })
  await sentKeys()
  expect(onSent).toHaveBeenCalledOnce()
})

test.each([
  ['gone if it is unchanged', TEXT.text, []],
  ['a draft if it was changed', 'Дойдёт и это', ['Дойдёт и это']],
])('a text that is stopped while the server publishes it is %s', async (_what, typed, left) => {
  const published = String(++id)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  server.answer = async () => {
    asked.resolve()
    await answer.promise
    return { status: 201, body: makePost(published) }
  }
  const { open, onSent } = submit()
  vi.advanceTimersByTime(1)
  await asked.promise
  open.stop()
  open.write({ text: typed })
  answer.resolve()
  await expect.poll(() => readCachedPost(published)?.id).toBe(published)
  await new Promise(setImmediate)
  expect(texts.get().map(({ text }) => text)).toEqual(left)
  expect(onSent).toHaveBeenCalledTimes(left.length === 0 ? 1 : 0)
})

test('drafts and the outbox of older versions are texts', () => {
  const sent = { text: 'раз', key: KEY }
  localStorage.setItem('draft 7 reply 5 here', JSON.stringify({ text: 'раз два', at: 5, sent }))
  const outgoing = { ...TEXT, key: KEY, tab: 'there', at: 6, until: 7, tries: 1 }
  const failure = { code: 'BLOCKED', message: 'Нельзя', status: 403 }
  localStorage.setItem(`outbox 7 ${KEY}`, JSON.stringify({ ...outgoing, failure, isRefused: true }))
  for (const name of ['draft 7 new junk', 'outbox 7 junk']) localStorage.setItem(name, '{"text":5}')
  convertOldTexts()
  textsChanged.emit()
  expect(texts.get()).toMatchObject([
    { by: '7', target: 'reply 5', tab: 'here', at: 5, text: 'раз два', state: 'draft', sent },
    {
      ...TEXT,
      tab: 'there',
      at: 6,
      state: 'refused',
      failure,
      sent: { text: TEXT.text, key: KEY },
    },
  ])
  expect(Object.keys(localStorage).filter((name) => /^(?:draft|outbox) /.test(name))).toEqual([])
})
