import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// From the second start on, Node need neither strip types nor compile: a quicker start, and less memory.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compile'))

const { buildWebIfNeeded } = await import('./build-web-if-needed.ts')
await buildWebIfNeeded()
// In this very process: a signal meant for the server then has nobody to get lost in.
await import('../server/main.ts')
