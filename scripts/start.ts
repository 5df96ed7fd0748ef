import { useCompileCache } from './compile-cache.ts'

useCompileCache()
// Comes first, because it changes the current folder.
await import('../server/operations/start/caller-folder.ts')

const { buildWebIfNeeded } = await import('./build-web-if-needed.ts')
await buildWebIfNeeded()
// In the same process, so that signals reach the server.
await import('../server/main.ts')
