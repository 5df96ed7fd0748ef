import { useCompileCache } from './compile-cache.ts'

useCompileCache()
// Before everything that is imported with the server.
await import('../server/operations/start/caller-folder.ts')

const { buildWebIfNeeded } = await import('./build-web-if-needed.ts')
await buildWebIfNeeded()
// In this very process, so that signals reach the server.
await import('../server/main.ts')
