// A server process of its own for the tests, so that it can be killed. Argument: DATA_DIR.
import '../start/caller-folder.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

const [dataDir = ''] = process.argv.slice(2)
try {
  const { connectionString, stop } = await startEmbeddedPostgres({
    dataDir,
    say: () => {},
  })
  process.on('message', async () => {
    await stop()
    process.disconnect?.()
  })
  process.send?.({ connectionString })
} catch (error) {
  process.send?.({ refused: error instanceof Error ? error.message : String(error) })
  process.disconnect?.()
}
