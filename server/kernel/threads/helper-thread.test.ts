import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHelperThread } from './threads.ts'

/** Answers with the question and with how many it has answered, and knows some that it cannot. */
const PARROT = `import { parentPort } from 'node:worker_threads'
let answered = 0
parentPort.on('message', (asked) => {
  if (asked === 'what ends it') throw new Error('It ends')
  if (asked === 'what it never answers') return
  parentPort.postMessage(asked + ' ' + ++answered)
})`

function startParrot({ silenceMs = 10_000 } = {}) {
  const file = new URL(`data:text/javascript,${encodeURIComponent(PARROT)}`)
  const memory = { maxOldGenerationSizeMb: 16 }
  const thread = createHelperThread<string, string>(file, { memory, silenceMs })
  onTestFinished(thread.stop)
  return thread
}

test('answers come in order; a question that ends the thread, or is not answered, fails alone: a new thread answers the next one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const thread = startParrot({ silenceMs: 500 })
  const answers = ['a', 'what ends it', 'b', 'what it never answers', 'c'].map(thread.ask)
  const settled = Promise.allSettled(answers)
  await answers[2]
  await turn()
  vi.advanceTimersByTime(500)
  expect(await settled).toMatchObject([
    { value: 'a 1' },
    { reason: { message: 'It ends' } },
    { value: 'b 1' },
    { reason: { code: 'UNAVAILABLE' } },
    { value: 'c 1' },
  ])
})

test('a stop rejects all pending questions', async () => {
  const thread = startParrot()
  expect(await thread.ask('a')).toBe('a 1')
  const answers = ['what it never answers', 'b'].map(thread.ask)
  await Promise.resolve()
  await thread.stop()
  const reasons = await Promise.allSettled([...answers, thread.ask('c')])
  expect(reasons).toMatchObject(Array(3).fill({ reason: { code: 'UNAVAILABLE' } }))
})
