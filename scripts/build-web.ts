import { join } from 'node:path'
import { build, type InlineConfig } from 'vite'

// buildWebIfNeeded() runs this: `node scripts/build-web.ts <output folder, relative to web/>`.
const outDir = process.argv[2]
if (!outDir) throw new Error('Which folder should hold the web?')

const shared: InlineConfig = {
  configFile: join(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
}
// Without the warning about slow plugins, which only means that the machine is slow.
const rolldownOptions = { checks: { pluginTimings: false } }

await build({ ...shared, build: { outDir, emptyOutDir: true, rolldownOptions } })
// The server's renderer lies inside, so that both are replaced together. Names with a leading dot
// are not served.
await build({
  ...shared,
  build: {
    ssr: 'start/entry-server.tsx',
    outDir: join(outDir, '.server'),
    copyPublicDir: false,
    rolldownOptions,
  },
})
