import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const page = new EventTarget()
let sent: string[] = []
let answer = () => {}

beforeEach(() => {
  sent = []
  vi.useFakeTimers()
  vi.resetModules()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function load() {
  const { delayWrite, cancelDelayed, sendDelayed } = await import('./delayed-write.ts')
  const delay = (name: string) => {
    const write = {
      send() {
        sent.push(name)
        return new Promise<void>((resolve) => {
          answer = resolve
        })
      },
      onCancel: () => sent.push(`${name} cancelled`),
    }
    delayWrite(write)
    return write
  }
  return { delay, cancelDelayed, sendDelayed }
}

test.each([
  ['after ten seconds', () => vi.advanceTimersByTime(1)],
  ['when the page is left', () => page.dispatchEvent(new Event('pagehide'))],
])('a write is sent once, %s', async (_, send) => {
  const { delay, cancelDelayed } = await load()
  const write = delay('first')
  vi.advanceTimersByTime(9999)
  expect(sent).toEqual([])
  send()
  expect(sent).toEqual(['first'])
  expect(cancelDelayed(write)).toBe(false)
  page.dispatchEvent(new Event('pagehide'))
  vi.advanceTimersByTime(60_000)
  expect(sent).toEqual(['first'])
})

test('a write that is cancelled in time is never sent', async () => {
  const { delay, cancelDelayed } = await load()
  delay('first')
  vi.advanceTimersByTime(9999)
  expect([cancelDelayed(), cancelDelayed()]).toEqual([true, false])
  page.dispatchEvent(new Event('pagehide'))
  vi.advanceTimersByTime(60_000)
  expect(sent).toEqual(['first cancelled'])
})

test('the first of two writes is sent when the second begins, and only the second can be cancelled', async () => {
  const { delay, cancelDelayed } = await load()
  const first = delay('first')
  const second = delay('second')
  expect(sent).toEqual(['first'])
  expect(cancelDelayed(first)).toBe(false)
  expect(cancelDelayed(second)).toBe(true)
  vi.advanceTimersByTime(60_000)
  expect(sent).toEqual(['first', 'second cancelled'])
})

test('sendDelayed resolves when the write is answered', async () => {
  const { delay, sendDelayed } = await load()
  delay('first')
  let isAnswered = false
  const all = sendDelayed().then(() => {
    isAnswered = true
  })
  await Promise.resolve()
  expect({ sent, isAnswered }).toEqual({ sent: ['first'], isAnswered: false })
  answer()
  await all
})
