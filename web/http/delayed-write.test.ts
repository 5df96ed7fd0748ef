import { beforeEach, expect, test, vi } from 'vitest'

const page = new EventTarget()
vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
const tab = Object.assign(new EventTarget(), { visibilityState: 'visible' })
vi.stubGlobal('document', tab)
vi.resetModules()
const { cancelDelayed, delayWrite, sendDelayed } = await import('./delayed-write.ts')

let sent: string[]
let answered: Promise<void>
beforeEach(() => {
  vi.stubGlobal('document', tab)
  sent = []
  answered = Promise.resolve()
  vi.useFakeTimers()
  turn('visible')
})

function turn(visibilityState: 'visible' | 'hidden'): void {
  tab.visibilityState = visibilityState
  tab.dispatchEvent(new Event('visibilitychange'))
}

function delay(name: string) {
  const write = {
    send() {
      sent.push(name)
      return answered
    },
    onCancel: () => sent.push(`${name} cancelled`),
  }
  delayWrite(write)
  return write
}

/** Leaves the page, lets a minute pass, and returns what has happened to the writes. */
function happened(): string[] {
  page.dispatchEvent(new Event('pagehide'))
  vi.advanceTimersByTime(60_000)
  return sent
}

test.each([
  ['after ten seconds', () => vi.advanceTimersByTime(1)],
  ['when the page is left', () => page.dispatchEvent(new Event('pagehide'))],
  ['when the page is hidden', () => turn('hidden')],
])('a write is sent once, %s', (_, send) => {
  const write = delay('first')
  vi.advanceTimersByTime(9999)
  turn('visible')
  expect(sent).toEqual([])
  send()
  expect(sent).toEqual(['first'])
  expect(cancelDelayed(write)).toBe(false)
  expect(happened()).toEqual(['first'])
})

test('a write that is cancelled in time is never sent', () => {
  delay('first')
  vi.advanceTimersByTime(9999)
  expect([cancelDelayed(), cancelDelayed()]).toEqual([true, false])
  expect(happened()).toEqual(['first cancelled'])
})

test('the first of two writes is sent when the second begins, and only the second can be cancelled', () => {
  const writes = ['first', 'second'].map(delay)
  expect(sent).toEqual(['first'])
  expect(writes.map(cancelDelayed)).toEqual([false, true])
  expect(happened()).toEqual(['first', 'second cancelled'])
})

test('sendDelayed resolves when the write is answered', async () => {
  const answer = Promise.withResolvers<void>()
  answered = answer.promise
  delay('first')
  const onAnswered = vi.fn()
  const all = sendDelayed().then(onAnswered)
  await Promise.resolve()
  expect(sent).toEqual(['first'])
  expect(onAnswered).not.toHaveBeenCalled()
  answer.resolve()
  await all
})
