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

/**
 * Measures in turn how many reads are served beside idle streams of news, and beside none, and how
 * much memory the streams take. Exits 1 if a goal is missed.
 */
export async function measureBesideStreams(
  { url, rss, cpu }: { url: string; rss: () => number; cpu: () => number },
  { seconds, rounds, only, tokens }: Beside,
): Promise<void> {
  const rows: string[][] = []
  for (const { name, request } of readsBeside(tokens).filter((kind) => kind.name.includes(only))) {
    const turns: { share: number; mib: number; cells: string[] }[] = []
    for (let round = 0; round < rounds; round++) {
      const start = cpu()
      const alone = await applyLoad({ url, seconds, request })
      const aloneCpu = cpu() - start
      const rssAlone = rss()
      const streams = await openStreams(url)
      const mib = rss() - rssAlone
      const startBeside = cpu()
      const beside = await applyLoad({ url, seconds, request })
      const besideCpu = cpu() - startBeside
      for (const stream of streams) stream.destroy()
      const cpus = [aloneCpu / alone.requests, besideCpu / beside.requests]
      const figures = [alone.rps, beside.rps, alone.p99, beside.p99, ...cpus]
      turns.push({
        share: beside.rps / alone.rps,
        mib,
        cells: figures.map((figure) => figure.toFixed(0)),
      })
    }
    const { share, cells } = middleOf(turns, (turn) => turn.share)
    const mib = Math.max(...turns.map((turn) => turn.mib))
    const goals = [goalCell(share, '≥', LEAST_SHARE), goalCell(mib, '≤', MOST_MIB)]
    rows.push([name, share.toFixed(2), goals[0] ?? '', mib.toFixed(0), goals[1] ?? '', ...cells])
  }
  printMarkdown([HEAD, ...rows])
}

const HEAD = [
  `beside ${STREAMS} idle streams`,
  'share',
  'goal',
  'MiB that they take at most',
  'goal',
  'reads/s alone',
  'reads/s beside',
  'p99 alone, ms',
  'p99 beside, ms',
  'CPU a read alone, µs',
  'beside',
]

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
