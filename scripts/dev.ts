import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createServer } from 'vite'

// Starts the server, restarted at every change, and Vite in front of it.
const port = process.env.PORT ?? '3000'
const main = join(import.meta.dirname, '../server/main.ts')
const api = spawn(process.execPath, ['--watch', '--watch-preserve-output', main], {
  stdio: ['ignore', 'inherit', 'inherit'],
})

const web = await createServer({
  configFile: join(import.meta.dirname, '../vite.config.ts'),
  server: { proxy: { '/api': `http://127.0.0.1:${port}` } },
})
await web.listen()
web.printUrls()

async function stop(signal: NodeJS.Signals): Promise<void> {
  const exited = api.exitCode === null ? once(api, 'exit') : null
  api.kill(signal)
  await Promise.all([exited, web.close()])
  process.exit()
}

process.once('SIGINT', stop)
process.once('SIGTERM', stop)
