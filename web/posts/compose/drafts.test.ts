import { beforeEach, expect, test, vi } from 'vitest'
import { safeStorage } from '../../platform/storage.ts'
import { keepOpen, openDraft } from './drafts.ts'

const store = safeStorage(() => sessionStorage)
const REFUSING = safeStorage(() => {
  throw new Error('Storage is refused')
})

beforeEach(() => sessionStorage.clear())

test('a draft returns when the form opens again, for the same user and target only', () => {
  openDraft(store, 'u1', 'reply 7').write({ text: ' недописанное\n' })
  expect(openDraft(store, 'u1', 'reply 7').read()?.text).toBe(' недописанное\n')
  expect(openDraft(store, 'u1', 'reply 8').read()).toBeNull()
  expect(openDraft(store, 'u1', 'new').read()).toBeNull()
  expect(openDraft(store, 'u2', 'reply 7').read()).toBeNull()
})

test('a draft that is emptied or sent is removed', () => {
  const draft = openDraft(store, 'u1', 'new')
  draft.write({ text: 'текст' })
  for (const text of ['', ' \n']) {
    draft.write({ text })
    expect(sessionStorage.length).toBe(0)
  }
  draft.write({ text: ' текст\n' })
  draft.take({ text: 'текст' })
  expect(sessionStorage.length).toBe(0)
})

test('a text that was not sent comes back below what was typed meanwhile', () => {
  const draft = openDraft(store, 'u1', 'new')
  draft.write({ text: 'первое' })
  const key = draft.take({ text: 'первое' })
  draft.write({ text: 'второе' })
  draft.giveBack({ text: 'первое', key })
  expect(draft.read()?.text).toBe('второе\n\nпервое')
})

test('a text that comes back keeps its key, even after a reload or after other typing; no other text gets it', () => {
  const draft = openDraft(store, 'u1', 'new')
  draft.write({ text: 'раз' })
  const key = draft.take({ text: 'раз' })
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  draft.giveBack({ text: 'раз', key })
  expect(openDraft(store, 'u1', 'new').take({ text: 'раз' })).toBe(key)
  expect(draft.take({ text: 'раз' })).not.toBe(key)
  draft.giveBack({ text: 'раз', key })
  for (const typed of ['раз два', '', 'раз']) draft.write({ text: typed })
  expect(draft.take({ text: 'раз' })).toBe(key)
})

test('if nothing can be stored, a draft is unsaved and lasts until the page is closed', () => {
  openDraft(REFUSING, 'u1', 'new').write({ text: 'текст' })
  const draft = openDraft(REFUSING, 'u1', 'new')
  expect(draft.read()?.text).toBe('текст')
  expect(draft.isUnsaved()).toBe(true)
  draft.take({ text: 'текст' })
  expect(draft.read()).toBeNull()
})

test('two tabs keep separate drafts of one target; a third tab shows the newest, and sends it for both', () => {
  vi.useFakeTimers()
  const open = (tab: string) => openDraft(store, 'u1', 'new', tab)
  const [left, right] = [open('left'), open('right')]
  left.write({ text: 'слева' })
  vi.advanceTimersByTime(1)
  right.write({ text: 'справа' })
  expect([open('left').read()?.text, open('right').read()?.text]).toEqual(['слева', 'справа'])
  const third = open('third')
  expect(third.read()?.text).toBe('справа')
  third.take({ text: 'справа' })
  expect(open('right').read()?.text).toBe('слева')
})

test('a tab that continues the draft of another tab takes it over, unless a form shows it there', async () => {
  const open = (tab: string) => openDraft(store, 'u1', 'new', tab)
  const first = open('first')
  first.write({ text: 'начало' })
  const close = keepOpen(first)
  open('second').write({ text: 'начало и конец' })
  await navigator.locks.query()
  expect(open('first').read()?.text).toBe('начало')
  open('second').clear()

  close()
  await navigator.locks.query()
  const third = open('third')
  third.write({ text: 'начало и середина' })
  await expect.poll(() => sessionStorage.length).toBe(1)
  third.take({ text: 'начало и середина' })
  expect(open('first').read()).toBeNull()
})

test('a stored value that is no draft is ignored and removed', () => {
  for (const junk of ['{', 'null', '{"text":5}', '{"sent":{}}']) {
    store.write('draft u1 new here', junk)
    expect(openDraft(store, 'u1', 'new', 'here').read()).toBeNull()
    expect(sessionStorage.length).toBe(0)
  }
})
