import { expect, onTestFinished, test, vi } from 'vitest'
import { safeStorage } from '../../platform/storage.ts'
import { keepOpen, openDraft } from './drafts.ts'
import { textsChanged } from './stored-drafts.ts'

/** The app's storage over an object that keeps its keys as a browser's does. */
function memoryStore() {
  const values: Record<string, string> = {}
  const methods = {
    getItem: (name: string) => values[name] ?? null,
    setItem: (name: string, text: string) => Object.assign(values, { [name]: text }),
    removeItem: (name: string) => delete values[name],
  }
  const storage = safeStorage(() => Object.setPrototypeOf(values, methods))
  return { ...storage, size: () => Object.keys(values).length }
}

const REFUSING = safeStorage(() => {
  throw new Error('Storage is refused')
})

test('a draft returns when the form opens again, for the same user and target only', () => {
  const store = memoryStore()
  openDraft(store, 'u1', 'reply 7').write(' недописанное\n')
  expect(openDraft(store, 'u1', 'reply 7').read()).toBe(' недописанное\n')
  expect(openDraft(store, 'u1', 'reply 8').read()).toBeNull()
  expect(openDraft(store, 'u1', 'new').read()).toBeNull()
  expect(openDraft(store, 'u2', 'reply 7').read()).toBeNull()
})

test('a draft that is emptied or sent is removed', () => {
  const store = memoryStore()
  const draft = openDraft(store, 'u1', 'new')
  draft.write('текст')
  draft.write('')
  expect(store.size()).toBe(0)
  draft.write(' текст\n')
  draft.take('текст')
  expect(store.size()).toBe(0)
})

test('a text that was not sent comes back below what was typed meanwhile', () => {
  const draft = openDraft(memoryStore(), 'u1', 'new')
  draft.write('первое')
  const key = draft.take('первое')
  draft.write('второе')
  draft.giveBack('первое', key)
  expect(draft.read()).toBe('второе\n\nпервое')
})

test('a text that comes back keeps its key, even after a reload; no other text gets it', () => {
  const store = memoryStore()
  const draft = openDraft(store, 'u1', 'new')
  draft.write('раз')
  const key = draft.take('раз')
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  draft.giveBack('раз', key)
  expect(openDraft(store, 'u1', 'new').take('раз')).toBe(key)
  expect(draft.take('раз')).not.toBe(key)
  draft.giveBack('раз', key)
  draft.write('раз два')
  expect(draft.take('раз два')).not.toBe(key)
})

test.each(['раз!', ''])('the key survives typing «%s» and undoing that', (typed) => {
  const draft = openDraft(memoryStore(), 'u1', 'new')
  draft.giveBack('раз', 'k1')
  draft.write(typed)
  draft.write('раз')
  expect(draft.take('раз')).toBe('k1')
})

test('listeners are called when a draft is created or removed, not when it is changed', () => {
  const draft = openDraft(memoryStore(), 'u1', 'edit 7')
  let calls = 0
  const stop = textsChanged.subscribe(() => {
    calls += 1
  })
  for (const text of ['н', 'но', 'нов', 'ново', 'новое']) draft.write(text)
  expect(calls).toBe(1)
  draft.clear()
  expect(draft.read()).toBeNull()
  expect(calls).toBe(2)
  stop()
  draft.write('снова')
  expect(calls).toBe(2)
})

test('if nothing can be stored, a draft is unsaved and lasts until the page is closed', () => {
  openDraft(REFUSING, 'u1', 'new').write('текст')
  const draft = openDraft(REFUSING, 'u1', 'new')
  expect(draft.read()).toBe('текст')
  expect(draft.isUnsaved()).toBe(true)
  draft.take('текст')
  expect(draft.read()).toBeNull()
})

test('a draft that another tab sends disappears here too', () => {
  const store = memoryStore()
  const here = openDraft(store, 'u1', 'new')
  here.write('текст')
  openDraft(store, 'u1', 'new').take('текст')
  expect(here.read()).toBeNull()
})

test('two tabs keep separate drafts of one target, and a third tab shows the newest', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const store = memoryStore()
  const open = (tab: string) => openDraft(store, 'u1', 'new', tab)
  const [left, right] = [open('left'), open('right')]
  left.write('слева')
  vi.advanceTimersByTime(1)
  right.write('справа')
  expect([open('left').read(), open('right').read()]).toEqual(['слева', 'справа'])
  const third = open('third')
  expect(third.read()).toBe('справа')
  third.take('справа')
  expect(open('right').read()).toBe('слева')
})

test('a tab that continues the draft of another tab takes it over, unless a form shows it there', async () => {
  const store = memoryStore()
  const open = (tab: string) => openDraft(store, 'u1', 'new', tab)
  const first = open('first')
  first.write('начало')
  const close = keepOpen(first)
  open('second').write('начало и конец')
  await navigator.locks.query()
  expect(open('first').read()).toBe('начало')
  open('second').clear()

  close()
  await navigator.locks.query()
  const third = open('third')
  third.write('начало и середина')
  await expect.poll(store.size).toBe(1)
  third.take('начало и середина')
  expect(open('first').read()).toBeNull()
})

test('a text that two tabs show is removed from both when it is sent', () => {
  const store = memoryStore()
  openDraft(store, 'u1', 'new', 'first').write('текст')
  const second = openDraft(store, 'u1', 'new', 'second')
  second.take('текст')
  expect(store.size()).toBe(0)
})

test('a stored value that is no draft is ignored and removed', () => {
  const store = memoryStore()
  for (const junk of ['', '{', 'null', '[]', '{"text":5}', '{"sent":{}}']) {
    store.write('draft u1 new here', junk)
    expect(openDraft(store, 'u1', 'new', 'here').read()).toBeNull()
    expect(store.size()).toBe(0)
  }
})

test('a stored text is a draft, even with an invalid key', () => {
  const store = memoryStore()
  store.write('draft u1 new here', '{"text":"цел","sent":{"text":"цел","key":7}}')
  const draft = openDraft(store, 'u1', 'new', 'here')
  expect(draft.read()).toBe('цел')
  expect(draft.take('цел')).toMatch(/^[0-9a-f]{32}$/)
})
