import { startDemo } from '../demo/start-demo.ts'
import { VIEWER } from '../demo/wall-post.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

// `npm run demo`. PORT chooses another port.
const stopping = new AbortController()
const starting = start()
// SIGHUP comes when the terminal is closed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
try {
  const { url, signInUrl, dataDir } = await starting
  console.log(`Стена: ${url}`)
  console.log(`Войти как ${VIEWER}: ${signInUrl}`)
  console.log(`Данные: ${dataDir} — исчезнут после остановки (Ctrl+C)`)
} catch (error) {
  if (!stopping.signal.aborted) {
    process.stderr.write(`${explainStartFailure(error)}\n`)
    process.exitCode = 1
  }
}

async function start() {
  await buildWebIfNeeded()
  const { signal } = stopping
  return startDemo({ port: process.env.PORT, say: (line) => console.log(line), signal })
}

/** Stops the demo once, and undoes a start in progress. */
async function stop(): Promise<void> {
  if (stopping.signal.aborted) return
  stopping.abort()
  console.log('Останавливаемся…')
  await starting.then((demo) => demo.stop()).catch(() => {})
  process.exit()
}
