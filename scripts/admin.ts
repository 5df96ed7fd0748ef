import { useCompileCache } from './compile-cache.ts'

// A command is mostly the time that Node takes to compile it.
useCompileCache()
await import('../operator/main.ts')
