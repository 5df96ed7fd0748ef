import { buildWebIfNeeded } from './build-web-if-needed.ts'

await buildWebIfNeeded()
// In this very process: a signal meant for the server then has nobody to get lost in.
await import('../server/main.ts')
