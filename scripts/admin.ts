import { useCompileCache } from './compile-cache.ts'

// A command is mostly the time that Node takes to compile it.
useCompileCache()
// Before everything that is imported with the command.
await import('../server/operations/start/caller-folder.ts')
await import('../operator/main.ts')
