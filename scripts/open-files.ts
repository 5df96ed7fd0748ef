import { useCompileCache } from './compile-cache.ts'

useCompileCache()
// Comes first, because it changes the current folder.
await import('../server/operations/start/caller-folder.ts')
const { runWithOpenedFiles } = await import('../operator/open-files.ts')
process.exitCode = await runWithOpenedFiles(process.argv.slice(2))
