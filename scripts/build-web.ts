import { join } from 'node:path'
import { build } from 'vite'

// buildWebIfNeeded() runs this: `node scripts/build-web.ts <output folder, relative to web/>`.
const outDir = process.argv[2]
if (!outDir) throw new Error('Which folder should hold the web?')

await build({
  configFile: join(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    // Whoever starts the server need not know that the machine is slow.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
