import { join } from 'node:path'
import { build } from 'vite'

// What buildWebIfNeeded() runs: `node scripts/build-web.ts <folder, seen from web/>`.
const outDir = process.argv[2]
if (!outDir) throw new Error('Which folder should hold the web?')

await build({
  configFile: join(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    // A slow machine is no news for whoever starts the server.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
