import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../server/testing/process/free-port.ts'
import { run, untilServiceReady } from './machine.ts'

test('a program that takes too long is killed and named with its timeout; a signal ends it too', async () => {
  const since = performance.now()
  const late = await run('sleep', ['60'], { longestMs: 200 })
  expect(late).toEqual({ isDone: false, out: '', err: 'sleep 60 не закончил за 0.2 с' })
  const ended = await run('sleep', ['60'], { signal: AbortSignal.timeout(200) })
  expect(ended.isDone).toBe(false)
  expect(performance.now() - since).toBeLessThan(30_000)
  expect(await run('echo', ['готово'])).toEqual({ isDone: true, out: 'готово\n', err: '' })
})

test('a service is waited for at HOST, which may be another address than 127.0.0.1', async () => {
  const [host, port] = ['127.0.0.2', await freePort()]
  const server = createServer((_, response) => response.end()).listen(port, host)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  expect(await untilServiceReady({ host, port }, () => {})).toBe(undefined)
})
