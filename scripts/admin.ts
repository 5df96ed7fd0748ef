import { useCompileCache } from './compile-cache.ts'

// Most of a command's time is Node compiling its code.
useCompileCache()
// Comes first, because it changes the current folder.
await import('../server/operations/start/caller-folder.ts')
await import('../operator/main.ts')
