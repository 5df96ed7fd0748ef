import { setTimeout as delay } from 'node:timers/promises'
import { type Crowd, openCrowd, sendNewcomers } from '../server/testing/crowd.ts'
import { freePort } from '../server/testing/free-port.ts'
import { dataSetOf } from './data-set.ts'
import { startFilledProduct } from './measured-product.ts'

// Prints what a picture of a post costs, and what reads lose beside pictures of which none was
// asked for before. The callers run beside the server, and take their part of the cores.

const SECONDS = 8
const READERS = 16
const ALONE = 60

const filled = { dataSet: dataSetOf(60_000), port: await freePort(), prepare: async () => {} }
await using started = await startFilledProduct(filled)
const { product } = started
let id = 1
const askNothing = () => 'GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n'
const nextPicture = () => `GET /posts/${id++}/picture.png HTTP/1.1\r\nHost: x\r\n\r\n`

const reads = {
  'reads that are cached': () => 'GET /api/v1/posts HTTP/1.1\r\nHost: x\r\n\r\n',
  'reads of the database': () =>
    `GET /api/v1/posts/${1 + Math.floor(Math.random() * 60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
}

await measure(
  openCrowd({ ...product, connections: READERS, request: reads['reads of the database'] }),
)
const quiet = product.rss()
const began = performance.now()
await fetch(`${product.url}/posts/${id++}/picture.png`).then((answer) => answer.arrayBuffer())
print('the first picture', `${Math.round(performance.now() - began)} ms`)
const before = product.cpu()
for (let n = 0; n < ALONE; n++) {
  await fetch(`${product.url}/posts/${id++}/picture.png`).then((answer) => answer.arrayBuffer())
}
print('CPU of each further one', `${Math.round((product.cpu() - before) / 1000 / ALONE)} ms`)
print('memory with its fonts', `${Math.round(product.rss() - quiet)} MiB more`)
await delay(65_000)
print('memory a minute after the last', `${Math.round(product.rss() - quiet)} MiB more`)

for (const [name, request] of Object.entries(reads)) {
  const read = () => measure(openCrowd({ ...product, connections: READERS, request }))
  print(name, await read())
  const crawlers = sendNewcomers(product.url, { everyMs: 20, request: nextPicture })
  print('  beside 50 pictures a second', await read())
  print('  of which there were drawn', `${Math.round((await crawlers.stop()) * 100)} %`)
  for (const [asked, storm] of Object.entries({ pictures: nextPicture, nothing: askNothing })) {
    const crowd = openCrowd({ ...product, connections: READERS, request: storm })
    print(`  beside ${READERS} callers who ask for ${asked} without pause`, await read())
    print('    and are answered', JSON.stringify(Object.fromEntries((await crowd.stop()).statuses)))
  }
}

async function measure(crowd: Crowd): Promise<string> {
  await delay(SECONDS * 1000)
  const { times } = await crowd.stop()
  times.sort((one, other) => one - other)
  const slow = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  return `${Math.round(times.length / SECONDS)}/s, p99 ${slow.toFixed(1)} ms`
}

function print(what: string, is: string): void {
  console.log(`${what}: ${is}`)
}
