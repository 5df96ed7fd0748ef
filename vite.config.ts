import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'

const TEXT_FILE = /\.(?:js|css|html|svg|json|webmanifest|txt)$/
const VENDOR = /node_modules\/(?:react|react-dom|scheduler|react-router|@tanstack)\//
/**
 * What every visit needs, in two scripts, which compress better than the many that lazy chunks would split off: packages,
 * which few releases change, so that browsers keep them cached across deployments, and what main.tsx imports. The entry
 * itself stays a script of its own, so that rendered pages can load everything by it, after the paint.
 */
const CHUNKS = [
  { name: 'vendor', test: VENDOR, priority: 2 },
  {
    name: 'app',
    // With the style of the pages that are rendered but not in the first script.
    test: /web\/(?:app\/app\.tsx|ui\/base\.css|texts\/site-text\.module\.css|pages\/not-found\.module\.css)$/,
    priority: 1,
  },
  // The style of all lazy chunks in one sheet: rendered pages contain only the style of `app`.
  { name: 'lazy-styles', test: /\.module\.css$/ },
]
const SMALLEST_WORTH_PACKING = 512
// light-dark(), nesting, popovers and AbortSignal.any as they are: the first releases that have all of them.
const TARGET = ['chrome123', 'edge123', 'firefox125', 'safari17.5']
const WORKERS = ['service-worker', 'service-worker-off']

/**
 * Builds the service worker, which knows the names of all assets, and the one that removes it. Each is one script without
 * imports at the root, where its scope is the whole site.
 */
function serviceWorkers(): Plugin {
  return {
    name: 'service-workers',
    apply: (_config, { command, isSsrBuild }) => command === 'build' && !isSsrBuild,
    generateBundle: {
      // The style sheet joins the bundle late.
      order: 'post',
      async handler(_options, bundle) {
        const assets = Object.keys(bundle).filter((name) => name.startsWith('assets/'))
        const paths = assets.map((name) => `/${name}`).sort()
        for (const name of WORKERS) {
          const source = await bundleWorker(name, paths)
          this.emitFile({ type: 'asset', fileName: `${name}.js`, source })
        }
      },
    },
  }
}

async function bundleWorker(name: string, assets: string[]): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { BUILD_ASSETS: JSON.stringify(assets) },
    build: {
      write: false,
      target: TARGET,
      rolldownOptions: {
        input: join(import.meta.dirname, `web/service-worker/${name}.ts`),
        output: { format: 'iife' },
      },
    },
  })
  const [output] = [result].flat()
  const script = output && 'output' in output ? output.output[0] : undefined
  if (!script) throw new Error(`${name} did not build`)
  return script.code
}

/**
 * Leaves React Router's components that nothing renders out of the bundle: the bundler takes making one for an effect, and
 * also setting its name, which only developer tools read.
 */
function unusedRouterComponents(): Plugin {
  return {
    name: 'unused-router-components',
    apply: 'build',
    transform: {
      filter: { id: /node_modules\/react-router\/dist\// },
      handler: (code) => ({
        code: code
          .replace(/^\w+\.displayName = .*;$/gm, '')
          .replace(/ = (?=React\$1\.forwardRef\()/g, ' = /* @__PURE__ */ '),
        map: null,
      }),
    },
  }
}

/**
 * Shows a text in the font in which it was first painted: one that changes its font while somebody reads may break its lines
 * anew. A font that comes too late for a first visit is there for the next page.
 */
const STEADY_FONTS = {
  postcssPlugin: 'steady-fonts',
  Declaration: {
    'font-display': (declaration: { value: string }) => {
      declaration.value = 'optional'
    },
  },
}

/** Writes .br and .gz beside every built text file over 1 KB, so that the server never compresses on the fly. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    // The build for the server is not served.
    apply: ({ build }, { command }) => command === 'build' && !build?.ssr,
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

export default defineConfig(({ command, isSsrBuild }) => ({
  root: 'web',
  plugins: [react(), unusedRouterComponents(), serviceWorkers(), precompress()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: TARGET,
    // The page's Content-Security-Policy allows no data: fonts, and every asset should be cacheable.
    assetsInlineLimit: 0,
    // Lazy chunks are fetched when the page is idle, so a list of what each of them imports would cost more than it brings.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, imports, { hostType }) => (hostType === 'html' ? imports : []),
    },
    rolldownOptions: {
      output: {
        // The server loads everything at once.
        codeSplitting: isSsrBuild ? false : { groups: CHUNKS },
      },
    },
  },
  // The server renders with what was built, never with React's development build or another version of a library.
  ssr: { noExternal: true },
  ...(isSsrBuild && { define: { 'process.env.NODE_ENV': '"production"' } }),
  css: {
    postcss: { plugins: [STEADY_FONTS] },
    modules: {
      generateScopedName: command === 'serve' ? '[name]__[local]' : '[hash:base64:6]',
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3000' } },
}))
