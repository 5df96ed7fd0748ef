import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { LIVE_PATH } from '../contract/constants.ts'
import { type Beside, readsBeside } from './beside-writes.ts'
import { applyLoad, middleOf } from './load.ts'
import { goalCell, printMarkdown } from './table.ts'

const STREAMS = 2000
const OPENED_AT_ONCE = 100
const LEAST_SHARE = 0.95
const MOST_MIB = 60

type Wall = { url: string; cpu: () => number; rss: () => number; tokens: string[] }

/**
 * Measures in turn how many reads are served by a product that holds idle streams of news, and by
 * one that holds none, and how much memory the streams take. Exits 1 if a goal is missed.
 */
export async function measureBesideStreams(
  streaming: Wall,
  idle: Wall,
  { seconds, rounds, only }: Pick<Beside, 'seconds' | 'rounds' | 'only'>,
): Promise<void> {
  const before = streaming.rss()
  const streams = await openStreams(streaming.url)
  const mib = streaming.rss() - before
  const rows: string[][] = []
  for (const { name } of readsBeside([]).filter((kind) => kind.name.includes(only))) {
    const turns: { share: number; cells: string[] }[] = []
    for (let round = 0; round < rounds; round++) {
      // The two take turns in being first, because the machine's speed varies.
      const first = await read(round % 2 ? streaming : idle, name, seconds)
      const second = await read(round % 2 ? idle : streaming, name, seconds)
      const [alone, beside] = round % 2 ? [second, first] : [first, second]
      const figures = [alone.rps, beside.rps, alone.p99, beside.p99, alone.cpu, beside.cpu]
      turns.push({
        share: beside.rps / alone.rps,
        cells: figures.map((figure) => figure.toFixed(0)),
      })
    }
    const { share, cells } = middleOf(turns, (turn) => turn.share)
    rows.push([name, share.toFixed(2), goalCell(share, '≥', LEAST_SHARE), ...cells])
  }
  for (const stream of streams) stream.destroy()
  printMarkdown([HEAD, ...rows])
  console.log(`\nThe streams take ${mib.toFixed(0)} MiB (goal ${goalCell(mib, '≤', MOST_MIB)}).`)
}

const HEAD = [
  `beside ${STREAMS} idle streams`,
  'share',
  'goal',
  'reads/s alone',
  'reads/s beside',
  'p99 alone, ms',
  'p99 beside, ms',
  'CPU a read alone, µs',
  'beside',
]

async function read({ url, cpu, tokens }: Wall, name: string, seconds: number) {
  const { request } = readsBeside(tokens).find((kind) => kind.name === name) ?? {}
  if (!request) throw new Error(`there is no read named ${name}`)
  const start = cpu()
  const load = await applyLoad({ url, seconds, request })
  return { ...load, cpu: (cpu() - start) / load.requests }
}

async function openStreams(url: string): Promise<IncomingMessage[]> {
  const streams: IncomingMessage[] = []
  while (streams.length < STREAMS) {
    const opened = Array.from({ length: OPENED_AT_ONCE }, () => openStream(url))
    streams.push(...(await Promise.all(opened)))
  }
  return streams
}

async function openStream(url: string): Promise<IncomingMessage> {
  const [stream] = (await once(get(url + LIVE_PATH), 'response')) as [IncomingMessage]
  if (stream.statusCode !== 200) throw new Error(`a stream answered ${stream.statusCode}`)
  return stream.resume()
}
