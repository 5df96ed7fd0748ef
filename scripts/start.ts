import { useCompileCache } from './compile-cache.ts'

useCompileCache()
// Comes first, because it changes the current folder.
await import('../server/operations/start/caller-folder.ts')

const { buildWebIfNeeded } = await import('./build-web-if-needed.ts')
await buildWebIfNeeded().catch(async (error) => {
  const { explainStartFailure } = await import('../server/operations/start/start-failure.ts')
  console.error(explainStartFailure(error))
  process.exit(1)
})
// In the same process, so that signals reach the server.
await import('../server/main.ts')
