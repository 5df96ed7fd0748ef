import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const TEXT_FILE = /\.(?:js|css|html|svg|json|webmanifest|txt)$/
const VENDOR = /node_modules\/(?:react|react-dom|scheduler|react-router|@tanstack)\//
const SMALLEST_WORTH_PACKING = 1024

/** Writes .br and .gz beside every built text file over 1 KB, so that the server never compresses on the fly. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name))
      await Promise.all(files.map((file) => packBeside(join(file.parentPath, file.name))))
    },
  }
}

async function packBeside(path: string): Promise<void> {
  const bytes = await readFile(path)
  if (bytes.length <= SMALLEST_WORTH_PACKING) return
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((packed) => writeFile(`${path}.br`, packed)),
    promisify(gzip)(bytes, { level: 9 }).then((packed) => writeFile(`${path}.gz`, packed)),
  ])
}

export default defineConfig(({ command }) => ({
  root: 'web',
  plugins: [react(), precompress()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // light-dark(), nesting, popovers and AbortSignal.any as they are: the first releases that have all of them.
    target: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
    // The page's Content-Security-Policy allows no data: fonts, and every asset should be cacheable.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The server reads it, to name in the page of a post the files that only this page needs.
    manifest: true,
    // One sheet, 2 KB (gzip) heavier than what the wall needs. A chunk's own that failed once would never be asked for
    // again, and the window or page would stand there without its looks until a reload.
    cssCodeSplit: false,
    // What every visit needs and few releases change: one file packs better and outlives a deployment.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'vendor', test: VENDOR }] } } },
  },
  css: {
    modules: {
      generateScopedName: command === 'serve' ? '[name]__[local]' : '[hash:base64:6]',
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3000' } },
}))
