import { expect, onTestFinished, test, vi } from 'vitest'
import { safeStorage } from '../../platform/storage.ts'
import { openDraft } from './drafts.ts'
import { draftsChanged } from './stored-drafts.ts'

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

test('what was typed is there when the form opens again, for that person and place only', () => {
  const store = memoryStore()
  openDraft(store, 'u1', 'reply 7').write(' недописанное\n')
  expect(openDraft(store, 'u1', 'reply 7').read()).toBe(' недописанное\n')
  expect(openDraft(store, 'u1', 'reply 8').read()).toBeNull()
  expect(openDraft(store, 'u1', 'new').read()).toBeNull()
  expect(openDraft(store, 'u2', 'reply 7').read()).toBeNull()
})

test('nothing is left of a draft emptied by hand or published', () => {
  const store = memoryStore()
  const draft = openDraft(store, 'u1', 'new')
  draft.write('текст')
  draft.write('')
  expect(store.size()).toBe(0)
  draft.submissionKey('текст')
  draft.write(' текст\n')
  draft.removeSent('текст')
  expect(store.size()).toBe(0)
})

test('a text typed while another was being sent stays when that one is published', () => {
  const store = memoryStore()
  const sending = openDraft(store, 'u1', 'new')
  sending.submissionKey('первое')
  openDraft(store, 'u1', 'new').write('второе')
  sending.removeSent('первое')
  expect(openDraft(store, 'u1', 'new').read()).toBe('второе')
})

test('every form of the same place is told what was sent, those of another place are not', () => {
  const store = memoryStore()
  const sent: string[] = []
  const stop = openDraft(store, 'u1', 'new').onSent((text) => sent.push(text))
  openDraft(store, 'u1', 'reply 7').onSent((text) => sent.push(`ответ: ${text}`))
  openDraft(store, 'u1', 'new').removeSent('первое')
  stop()
  openDraft(store, 'u1', 'new').removeSent('второе')
  expect(sent).toEqual(['первое'])
})

test('the same text is sent under the same key, also after a reload; another text never is', () => {
  const store = memoryStore()
  const draft = openDraft(store, 'u1', 'new')
  draft.write('раз')
  const key = draft.submissionKey('раз')
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(draft.submissionKey('раз')).toBe(key)
  expect(openDraft(store, 'u1', 'new').submissionKey('раз')).toBe(key)
  draft.removeSent('раз')
  expect(draft.submissionKey('раз')).not.toBe(key)
  draft.write('раз два')
  expect(draft.submissionKey('раз два')).not.toBe(key)
})

test.each(['раз!', ''])('the key survives typing «%s» and undoing that', (typed) => {
  const draft = openDraft(memoryStore(), 'u1', 'new')
  draft.write('раз')
  const key = draft.submissionKey('раз')
  draft.write(typed)
  draft.write('раз')
  expect(draft.submissionKey('раз')).toBe(key)
})

test('listeners are called when a draft is created or removed, not when it is changed', () => {
  const draft = openDraft(memoryStore(), 'u1', 'edit 7')
  let calls = 0
  const stop = draftsChanged.subscribe(() => {
    calls += 1
  })
  for (const text of ['н', 'но', 'нов', 'ново', 'новое']) draft.write(text)
  expect(calls).toBe(1)
  draft.submissionKey('новое')
  draft.clear()
  expect(draft.read()).toBeNull()
  expect(calls).toBe(2)
  stop()
  draft.write('снова')
  expect(calls).toBe(2)
})

test('where nothing can be stored, a draft lasts as long as the page, and says so', () => {
  openDraft(REFUSING, 'u1', 'new').write('текст')
  const draft = openDraft(REFUSING, 'u1', 'new')
  expect(draft.read()).toBe('текст')
  expect(draft.isUnsaved()).toBe(true)
  expect(draft.submissionKey('текст')).toBe(draft.submissionKey('текст'))
  draft.removeSent('текст')
  expect(draft.read()).toBeNull()
})

test('published in another tab, the draft is gone here too', () => {
  const store = memoryStore()
  const here = openDraft(store, 'u1', 'new')
  here.write('текст')
  openDraft(store, 'u1', 'new').removeSent('текст')
  expect(here.read()).toBeNull()
})

test('what two tabs write in one place is kept for each, and the newest of both for a third', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const store = memoryStore()
  const open = (tab: string) => openDraft(store, 'u1', 'new', { tab })
  const [left, right] = [open('left'), open('right')]
  left.write('слева')
  vi.advanceTimersByTime(1)
  right.write('справа')
  expect([open('left').read(), open('right').read()]).toEqual(['слева', 'справа'])
  const third = open('third')
  expect(third.read()).toBe('справа')
  third.removeSent('справа')
  expect(open('right').read()).toBe('слева')
})

test('a tab that goes on with the text of another takes it over, unless a form is open on it there', async () => {
  const store = memoryStore()
  const open = (tab: string) => openDraft(store, 'u1', 'new', { tab })
  const first = open('first')
  first.write('начало')
  const close = first.keepOpen()
  open('second').write('начало и конец')
  await navigator.locks.query()
  expect(open('first').read()).toBe('начало')
  open('second').clear()

  close()
  await navigator.locks.query()
  const third = open('third')
  third.write('начало и середина')
  await expect.poll(store.size).toBe(1)
  third.removeSent('начало и середина')
  expect(open('first').read()).toBeNull()
})

test('a text that another tab shows too is gone from both when it is published', () => {
  const store = memoryStore()
  openDraft(store, 'u1', 'new', { tab: 'first' }).write('текст')
  const second = openDraft(store, 'u1', 'new', { tab: 'second' })
  second.submissionKey('текст')
  second.removeSent('текст')
  expect(store.size()).toBe(0)
})

test('a stored value that is no draft is ignored and removed', () => {
  const store = memoryStore()
  for (const junk of ['', '{', 'null', '[]', '{"text":5}', '{"sent":{}}']) {
    store.write('draft u1 new tab', junk)
    expect(openDraft(store, 'u1', 'new').read()).toBeNull()
    expect(store.size()).toBe(0)
  }
})

test('a stored text is a draft, whatever is stored in place of its key', () => {
  const store = memoryStore()
  store.write('draft u1 new tab', '{"text":"цел","sent":{"text":"цел","key":7}}')
  const draft = openDraft(store, 'u1', 'new')
  expect(draft.read()).toBe('цел')
  expect(draft.submissionKey('цел')).toMatch(/^[0-9a-f]{32}$/)
})
