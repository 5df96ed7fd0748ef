import { enableCompileCache } from 'node:module'
import { compileCacheFolder } from './compile-cache.ts'

// From the second start on, Node need neither strip types nor compile: a quicker start, and less memory. Where the folder
// cannot be written it does without.
const cache = compileCacheFolder()
if (cache) enableCompileCache(cache)

const { buildWebIfNeeded } = await import('./build-web-if-needed.ts')
await buildWebIfNeeded()
// In this very process, so that signals reach the server.
await import('../server/main.ts')
