import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort, listen } from '../../server/testing/process/free-port.ts'
import { run, untilAnswers, untilServiceReady } from './machine.ts'

test('a program that takes too long is killed and named with its timeout; a signal ends it too', async () => {
  const since = performance.now()
  const late = await run('sleep', ['60'], { longestMs: 200 })
  expect(late).toEqual({ isDone: false, out: '', err: 'sleep 60 не закончил за 0.2 с' })
  const ended = await run('sleep', ['60'], { signal: AbortSignal.timeout(200) })
  expect(ended.isDone).toBe(false)
  expect(performance.now() - since).toBeLessThan(30_000)
  expect(await run('echo', ['готово'])).toEqual({ isDone: true, out: 'готово\n', err: '' })
})

/** Starts a server that answers with these statuses, and then repeats the last one. */
async function answering(...statuses: number[]) {
  const server = createServer((_, response) => {
    response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200).end()
  })
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${await listen(server)}/`
}

test('a wait is announced once, and not at all if the answer comes at once; when given up it returns why', async () => {
  const onWait = vi.fn()
  const wait = { seconds: 30, gaveUp: async () => false, onWait }
  expect(await untilAnswers(await answering(200), wait)).toBeUndefined()
  expect(onWait).not.toHaveBeenCalled()
  expect(await untilAnswers(await answering(503, 502, 200), wait)).toBeUndefined()
  expect(onWait).toHaveBeenCalledOnce()
  const gaveUp = async (reason: string) => reason === 'ответ 502'
  expect(await untilAnswers(await answering(503, 502), { ...wait, gaveUp })).toBe('ответ 502')
  expect(await untilAnswers(await answering(503), { ...wait, seconds: 0 })).toBe('ответ 503')
})

test('a service is waited for at HOST, which may be another address than 127.0.0.1', async () => {
  const [host, port] = ['127.0.0.2', await freePort()]
  const server = createServer((_, response) => response.end()).listen(port, host)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  expect(await untilServiceReady({ host, port }, () => {})).toBe(undefined)
})
