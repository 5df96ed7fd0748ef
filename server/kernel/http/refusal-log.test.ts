import { expect, onTestFinished, test } from 'vitest'
import { collectLog } from '../../testing/process/log-lines.ts'
import { createLogger } from '../log/logger.ts'
import { RefusalLog } from './refusal-log.ts'

const REFUSED = { reqId: 'req-1', method: 'GET', route: null, status: 404, ms: 1 }

function refusalLogForTest(periodMs?: number) {
  const { lines, line, stream } = collectLog()
  const refusals = new RefusalLog(createLogger('info', stream), periodMs)
  onTestFinished(() => refusals.close())
  return {
    refusals,
    line,
    /** Lines with this message. */
    linesOf: (msg: string) => lines.map((one) => JSON.parse(one)).filter((one) => one.msg === msg),
  }
}

test('each period names ten refusals of a network for each code, and counts them by code and by the first few of very many routes', async () => {
  const { refusals, line, linesOf } = refusalLogForTest(30)
  const routes = { 'GET /0': 1, 'GET /1': 1, 'GET /2': 1, 'GET /3': 1, 'GET /4': 1, others: 95 }
  const codes = { NOT_FOUND: 50, UNAUTHORIZED: 50 }
  for (let period = 1; period <= 2; period++) {
    for (let route = 0; route < 100; route++) {
      const code = route % 2 ? 'NOT_FOUND' : 'UNAUTHORIZED'
      refusals.record({ ...REFUSED, code, route: `/${route}`, network: '192.0.2.1' })
    }
    const count = JSON.parse(await line('requests refused', period))
    expect(count).toMatchObject({ level: 'warn', refused: 100, codes, routes })
  }
  expect(linesOf('request')).toHaveLength(40)
})

test('an attack from very many networks has a bounded log: networks past a thousand are counted together', () => {
  const { refusals, linesOf } = refusalLogForTest()
  for (let network = 0; network < 3000; network++) {
    const ip = `10.0.${network >> 8}.${network & 255}`
    for (let time = 0; time < 11; time++) refusals.record({ ...REFUSED, network: ip })
  }
  refusals.close()
  expect(linesOf('request')).toHaveLength(10_000)
  const counts = linesOf('requests refused')
  expect(counts).toHaveLength(1001)
  expect(counts.at(-1)).toMatchObject({ otherNetworks: true, refused: 22_000 })
})
