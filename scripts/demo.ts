import { startDemo } from '../demo/start-demo.ts'
import { VIEWER } from '../demo/wall-post.ts'
import { explainStartFailure } from '../server/start/start-failure.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

// Shows a lively wall: `npm run demo`. PORT chooses another port.
const starting = start()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
try {
  const { url, signInUrl, dataDir } = await starting
  console.log(`Стена: ${url}`)
  console.log(`Войти как ${VIEWER}: ${signInUrl}`)
  console.log(`Данные: ${dataDir} — исчезнут после остановки (Ctrl+C)`)
} catch (error) {
  process.stderr.write(`${explainStartFailure(error)}\n`)
  process.exitCode = 1
}

async function start() {
  await buildWebIfNeeded()
  return startDemo({ port: process.env.PORT, say: (line) => console.log(line) })
}

let isStopping = false

/** Stops the demo, once; one that is still starting is stopped when it has started. */
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  console.log('Останавливаемся…')
  await starting.then((demo) => demo.stop()).catch(() => {})
  process.exit()
}
