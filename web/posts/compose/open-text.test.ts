import { beforeEach, expect, test, vi } from 'vitest'
import { HAD_SESSION_KEY, TEXT } from '../../platform/stored-keys.ts'
import { OpenText } from './open-text.ts'
import { type Target, type Text, textPrefix, textsChanged } from './stored-texts.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  vi.stubGlobal('document', new EventTarget())
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('localStorage', sessionStorage)
  sessionStorage.clear()
  sessionStorage.setItem(HAD_SESSION_KEY, 'u1')
  textsChanged.emit()
})

function open(tab = 'left', { by = 'u1', target = 'new' as Target } = {}): OpenText {
  vi.advanceTimersByTime(1)
  return new OpenText({ by, target }, tab)
}

/** Opens a form, and returns its text with the function that closes it, and counts what was sent. */
function openForm(tab?: string) {
  const text = open(tab)
  const onSent = vi.fn()
  return { text, onSent, close: text.follow(onSent) }
}

function stored(): Text[] {
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(TEXT))
  return names.map((name) => JSON.parse(sessionStorage.getItem(name) ?? ''))
}

/** Sends a text as the tab would that has it, and removes it. */
function receive(text: OpenText): void {
  const now = text.get()
  if (now) sessionStorage.removeItem(textPrefix(now) + now.id)
  textsChanged.emit()
}

/** Stores what becomes of a text. */
function become(text: OpenText, changes: Partial<Text>): void {
  const now = text.get()
  if (now) sessionStorage.setItem(textPrefix(now) + now.id, JSON.stringify({ ...now, ...changes }))
  textsChanged.emit()
}

test('a draft returns when the form opens again, for the same user and target only', () => {
  open('left', { target: 'reply 7' }).write({ text: ' недописанное\n' })
  expect(open('left', { target: 'reply 7' }).draft()?.text).toBe(' недописанное\n')
  expect(open('left', { target: 'reply 8' }).draft()).toBeUndefined()
  expect(open('left').draft()).toBeUndefined()
  expect(open('left', { by: 'u2', target: 'reply 7' }).draft()).toBeUndefined()
})

test.each(['', ' \n'])('a draft that is emptied to %j is removed when its form closes', (text) => {
  const form = openForm()
  form.text.write({ text: 'текст' })
  form.text.write({ text })
  expect(form.text.draft()).toBeUndefined()
  form.close()
  expect(stored()).toEqual([])
})

test('while a text is being sent, another begins in the same tab', () => {
  const first = openForm()
  first.text.send({ text: 'первое' })
  first.close()
  const second = open()
  expect(second.get()).toBeUndefined()
  second.write({ text: 'второе' })
  expect(stored().map(({ state, text }) => [state, text])).toEqual(
    expect.arrayContaining([
      ['sending', 'первое'],
      ['draft', 'второе'],
    ]),
  )
})

test('a stopped or refused text keeps its key, even after a reload or after other typing; no other text gets it', () => {
  const text = open()
  const keyOf = (written: string): string | undefined => {
    text.send({ text: written })
    const key = text.get()?.sent?.key
    text.stop()
    return key
  }
  const key = keyOf('раз')
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(keyOf('раз')).toBe(key)
  for (const typed of ['раз два', '', 'раз']) text.write({ text: typed })
  const again = open()
  again.send({ text: 'раз' })
  expect(again.get()?.sent?.key).toBe(key)
  again.stop()
  expect(keyOf('два')).not.toBe(key)
})

test('an edit that is sent as a reply is a draft of a reply if it is stopped, with its key', () => {
  const edit = open('left', { target: 'edit 5' })
  edit.write({ text: 'правка' })
  edit.sendTo('reply 5', { text: 'правка' })
  const key = edit.get()?.sent?.key
  edit.stop()
  expect(stored()).toMatchObject([{ target: 'reply 5', state: 'draft', text: 'правка' }])
  edit.sendTo('reply 5', { text: 'правка' })
  expect(edit.get()?.sent?.key).toBe(key)
})

test('a refusal is shown until the author types, and the text is a draft', () => {
  const { text } = openForm()
  text.send({ text: 'раз' })
  const failure = { code: 'BLOCKED', message: 'Нельзя', status: 403 } as const
  become(text, { state: 'refused', failure })
  expect(text.get()).toMatchObject({ state: 'draft', failure })
  text.write({ text: 'раз два' })
  expect(text.get()?.failure).toBeUndefined()
})

test('if nothing can be stored, a draft lasts until the page is closed', () => {
  const refuse = () => {
    throw new Error('Storage is refused')
  }
  vi.stubGlobal('localStorage', { setItem: refuse, getItem: refuse, removeItem: refuse })
  const form = openForm()
  form.text.write({ text: 'текст' })
  expect(open().draft()?.text).toBe('текст')
  form.text.remove()
  expect(open().draft()).toBeUndefined()
})

test('two tabs keep separate drafts of one target; a third tab shows the newest, and sends it for both', () => {
  const [left, right] = [openForm('left'), openForm('right')]
  left.text.write({ text: 'слева' })
  vi.advanceTimersByTime(1)
  right.text.write({ text: 'справа' })
  expect([open('left').draft()?.text, open('right').draft()?.text]).toEqual(['слева', 'справа'])
  const third = open('third')
  expect(third.draft()?.text).toBe('справа')
  third.send({ text: 'справа' })
  expect(right.onSent).toHaveBeenCalledOnce()
  expect(left.onSent).not.toHaveBeenCalled()
  expect(open('right').draft()?.text).toBe('слева')
})

test('a tab takes the draft of another tab over, and an open form there stores its text anew', () => {
  const first = openForm('first')
  first.text.write({ text: 'начало' })
  const second = open('second')
  second.write({ text: '' })
  second.write({ text: 'другое' })
  expect(stored().map(({ text }) => text)).toEqual(expect.arrayContaining(['начало', 'другое']))
  expect(first.onSent).not.toHaveBeenCalled()
  first.close()

  const third = open('third')
  third.write({ text: 'другое и конец' })
  expect(stored().map(({ text }) => text)).toEqual(
    expect.arrayContaining(['начало', 'другое и конец']),
  )
  expect(stored()).toHaveLength(2)
})

test('a form closes when its text has left the browser in another tab, unless the session has ended', () => {
  const [left, right] = [openForm('left'), openForm('right')]
  left.text.write({ text: 'слева' })
  right.text.write({ text: 'справа' })
  receive(left.text)
  expect(left.onSent).toHaveBeenCalledOnce()
  sessionStorage.removeItem(HAD_SESSION_KEY)
  receive(right.text)
  expect(right.onSent).not.toHaveBeenCalled()
})

test('a stored value that is no text is ignored and removed', () => {
  for (const junk of ['{', 'null', '{"text":5}', '{"sent":{}}']) {
    sessionStorage.setItem('text u1 new here', junk)
    textsChanged.emit()
    expect(open().get()).toBeUndefined()
    expect(stored()).toEqual([])
  }
})
