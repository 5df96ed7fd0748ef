import { createHash } from 'node:crypto'
import { existsSync, globSync, statSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'
import { PAGE_FRAMES_FILE, type PageFrames } from './contract/pages.ts'
import { FIRST_SCRIPTS_MAX } from './scripts/first-scripts.ts'
import { STYLE_PLUGINS } from './scripts/style-plugins.ts'

const TEXT_FILE = /^[^.].*\.(?:js|css|html|svg|json|webmanifest|txt)$/
const VENDOR = /node_modules\/(?:react|react-dom|scheduler|@tanstack)\//
/**
 * What every visit needs, in two scripts, which compress better than many: packages, which few
 * releases change, and what main.tsx imports. The entry stays a script of its own, which rendered
 * pages load after the paint.
 */
const CHUNKS = [
  { name: 'vendor', test: VENDOR, priority: 7 },
  {
    name: 'app',
    // With the style of the pages that are rendered but not in the first script.
    test: /web\/(?:app\/app\.tsx|app\/start-app\.ts|start\/first-page\.ts|ui\/base\.css|texts\/site-text\.module\.css|authors\/author\.module\.css|search\/search-form\.module\.css)$/,
    priority: 6,
  },
  // The style of all lazy chunks in one sheet: rendered pages contain only the style of `app`.
  { name: 'lazy-styles', test: /\.module\.css$/, priority: 5 },
  // What is loaded together anyway: at the start of signed-in people, after the first use, and for
  // signed-in people when idle.
  { name: 'signed-in', test: /web\/(?:app\/signed-in\.ts|answers\/bell\.tsx)$/, priority: 4 },
  { name: 'sign-in-dialog', test: /web\/app\/open-dialog\.tsx$/, priority: 3 },
  {
    name: 'menus',
    test: /web\/(?:ui\/overlay\/menu|feed\/post-menu|replies\/visited-thread)\.tsx$/,
    priority: 2,
  },
  {
    name: 'dialogs',
    test: /web\/(?!sign-in|moderation\/queue).*-dialog\.tsx$|web\/app\/notices\/outbox-row\.tsx$/,
    priority: 1,
  },
  { name: 'settings', test: /web\/pages\/(?:settings.*|viewer-feeds|received)\.tsx$/ },
]
const STYLED_IMPORT = join(import.meta.dirname, 'web/platform/styled-import.ts')
const SMALLEST_WORTH_PACKING = 512
// The oldest browsers that run the app; web/start/missing-functions.ts adds what they lack.
const TARGET = ['chrome109', 'edge109', 'firefox125', 'safari16.4']
// Older browsers run before-paint.ts, which tells them that they are too old.
const OLD_TARGET = 'es2019'
const WORKERS = ['service-worker', 'service-worker-off']

/**
 * Builds the service worker, which knows the names of all assets, and the one that removes it. At
 * the root their scope is the whole site.
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
        const BUILD_ASSETS = assets.map((name) => `/${name}`).sort()
        for (const name of WORKERS) {
          const source = await bundleScript(`service-worker/${name}`, { BUILD_ASSETS })
          this.emitFile({ type: 'asset', fileName: `${name}.js`, source })
        }
      },
    },
  }
}

/** Bundles a file of the web into one script without imports, which knows some constants. */
async function bundleScript(
  name: string,
  constants: Record<string, unknown>,
  target: string | string[] = TARGET,
): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: Object.fromEntries(
      Object.entries(constants).map(([key, value]) => [key, JSON.stringify(value)]),
    ),
    build: {
      write: false,
      target,
      rolldownOptions: {
        input: join(import.meta.dirname, `web/${name}.ts`),
        output: { format: 'iife' },
      },
    },
  })
  const [output] = [result].flat()
  const script = output && 'output' in output ? output.output[0] : undefined
  if (!script) throw new Error(`${name} did not build`)
  return script.code.trim()
}

/** Imports classes one by one, so that scripts contain those they use, without the names in the sheet. */
function namedClasses(): Plugin {
  return {
    name: 'named-classes',
    enforce: 'pre',
    apply: 'build',
    transform: {
      filter: { id: /\/web\/.*\.tsx?$/ },
      handler: (code) =>
        code.replace(/^import (\w+)(?= from .*\.module\.css')/gm, 'import * as $1'),
    },
  }
}

/** Replaces Vite's loader of chunks and their style sheets by the web app's own. */
function styledImports(): Plugin {
  return {
    name: 'styled-imports',
    enforce: 'pre',
    apply: (_config, { command, isSsrBuild }) => command === 'build' && !isSsrBuild,
    load: {
      filter: { id: /vite\/preload-helper/ },
      handler: () => `export { importStyled as __vitePreload } from '${STYLED_IMPORT}'`,
    },
  }
}

/** Puts the script that runs before the first paint into index.html. */
function inlineScript(): Plugin {
  return {
    name: 'inline-script',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const script = await bundleScript('start/before-paint', {}, OLD_TARGET)
        return html.replace('<!-- before paint -->', () => `<script>${script}</script>`)
      },
    },
  }
}

/** Writes what the server makes pages of, in place of index.html. */
function pageFrames(): Plugin {
  return {
    name: 'page-frames',
    enforce: 'pre',
    apply: (_config, { command, isSsrBuild }) => command === 'build' && !isSsrBuild,
    generateBundle: {
      // When index.html names the assets.
      order: 'post',
      async handler(_options, bundle) {
        const page = bundle['index.html']
        if (page?.type !== 'asset') throw new Error('index.html did not build')
        delete bundle['index.html']
        const readSheet = (name: string): string => {
          const sheet = bundle[name]
          if (sheet?.type !== 'asset') throw new Error(`${name} is not in the build`)
          return String(sheet.source).trim()
        }
        const source = JSON.stringify(await framesOf(String(page.source), readSheet))
        this.emitFile({ type: 'asset', fileName: PAGE_FRAMES_FILE, source })
      },
    },
  }
}

/**
 * Makes the frames of index.html, where one comment stands for the head of each page, and one
 * before the tags of the assets.
 */
async function framesOf(html: string, readSheet: (name: string) => string): Promise<PageFrames> {
  const [before = '', rest = ''] = html.split('<!-- page head -->')
  const [head = '', shellEnd = ''] = rest.split('<!-- assets -->')
  const assets = [...shellEnd.matchAll(/(?<=="\/)assets\/[^"]+/g)].map(String)
  const scripts = assets.filter((name) => name.endsWith('.js')).map((name) => `/${name}`)
  const [sheet = '', ...more] = assets.filter((name) => name.endsWith('.css'))
  if (more.length > 0) throw new Error(`Rendered pages have one style sheet, not also ${more}`)
  const style = readSheet(sheet)
  const loader = await bundleScript('start/script-loader', { SCRIPTS: scripts, SHEET: `/${sheet}` })
  const [root = '', end = ''] = shellEnd.slice(shellEnd.indexOf('</head>')).split('</div>')
  const inlineScripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, code = '']) => code)
  return {
    shell: { before, after: head + shellEnd },
    // The first paint waits for nothing: the style is inline, and the loader fetches after it.
    rendered: {
      before,
      after: `${head}<script>${loader}</script><style>${style}</style>${root}`,
      end,
    },
    inlineHashes: { scripts: [...inlineScripts, loader].map(hashOf), styles: [hashOf(style)] },
  }
}

const SHEETS = globSync('web/**/*.module.css', { cwd: import.meta.dirname }).sort()

/** Compresses better than a hash: the script has the local name beside it. */
function shortClass(local: string, file: string): string {
  const at = SHEETS.indexOf(relative(import.meta.dirname, file))
  return local + at.toString(36).padStart(2, '0')
}

function hashOf(inline: string): string {
  return `'sha256-${createHash('sha256').update(inline).digest('base64')}'`
}

/** Writes .br and .gz beside each larger text file: the server never compresses them. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    // The build for the server is not served.
    apply: ({ build }, { command }) => command === 'build' && !build?.ssr,
    async writeBundle({ dir = '' }, bundle) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name))
      await Promise.all(files.map((file) => packBeside(join(file.parentPath, file.name))))
      const entry = Object.values(bundle).find((it) => it.type === 'chunk' && it.isEntry)
      if (entry?.type !== 'chunk') throw new Error('The build has no entry')
      const sizes = [entry.fileName, ...entry.imports].map((name) => gzipSize(join(dir, name)))
      const left = FIRST_SCRIPTS_MAX - sizes.reduce((sum, size) => sum + size, 0)
      console.log(`Первые скрипты: до предела в ${FIRST_SCRIPTS_MAX} байт (gzip) — ${left}`)
    },
  }
}

function gzipSize(path: string): number {
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size
}

async function packBeside(path: string): Promise<void> {
  const bytes = await readFile(path)
  if (bytes.length <= SMALLEST_WORTH_PACKING) return
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const zip = (memLevel: number) => promisify(gzip)(bytes, { level: 9, memLevel })
  // With more memory the blocks end later, which makes some files smaller and others larger.
  const [brotli, one, other] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    zip(7),
    zip(8),
  ])
  await writeFile(`${path}.br`, brotli)
  await writeFile(`${path}.gz`, one.length < other.length ? one : other)
}

export default defineConfig(({ command, isSsrBuild }) => ({
  root: 'web',
  plugins: [
    react(),
    namedClasses(),
    styledImports(),
    inlineScript(),
    pageFrames(),
    serviceWorkers(),
    precompress(),
  ],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: TARGET,
    // The Content-Security-Policy allows no data: fonts, and every asset should be cacheable.
    assetsInlineLimit: 0,
    // Lazy chunks are fetched when the page is idle: lists of their imports would not pay.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, imports, { hostType }) => (hostType === 'html' ? imports : []),
    },
    rolldownOptions: {
      onwarn(warning, print) {
        // TypeScript does not know which classes a sheet has.
        if (warning.code === 'IMPORT_IS_UNDEFINED') throw new Error(warning.message)
        print(warning)
      },
      output: isSsrBuild
        ? // The server loads everything at once.
          { codeSplitting: false }
        : {
            codeSplitting: { groups: CHUNKS },
            // Hashes do not compress: six characters tell a chunk's versions apart.
            chunkFileNames: 'assets/[name]-[hash:6].js',
          },
    },
  },
  // The server renders with what was built, never with a development build.
  ssr: { noExternal: true },
  ...(command === 'build' && {
    define: isSsrBuild
      ? { 'process.env.NODE_ENV': '"production"' }
      : // A visit does not pay for what React tells its developer tools.
        { __REACT_DEVTOOLS_GLOBAL_HOOK__: 'undefined' },
  }),
  css: {
    postcss: { plugins: STYLE_PLUGINS },
    modules: {
      generateScopedName: command === 'serve' ? '[name]__[local]' : shortClass,
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3000' } },
}))
