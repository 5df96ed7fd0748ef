import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RenderPage, ServerBuild } from '../../../contract/pages.ts'
import { escapeHtml } from './escape.ts'
import type { SiteFacts } from './page-head.ts'
import { LOADER, loaderOf } from './script-loader.ts'

/** A page's HTML before and after the part of its head that depends on the URL. */
type PageFrame = { before: string; after: string }

/** The frame of pages that are rendered on the server: `after` ends where the content of #root begins. */
type RenderedFrame = PageFrame & {
  /** What follows #root, with the loader of the scripts. */
  end: string
}

/** The built web app: its one page, with the facts that the browser needs at once. */
export type WebApp = {
  folder: string
  /** The empty page that the browser fills. */
  shell: PageFrame
  /** What renders pages on the server; null in a build without it. */
  rendered: { frame: RenderedFrame; render: RenderPage } | null
  site: SiteFacts
  /** Whether browsers get the service worker; if not, they get one that removes it. */
  serviceWorker: boolean
  /** CSP source expressions of the inline scripts and style sheets of all pages. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

type Facts = {
  appName: string
  editPeriodSeconds: number
  publicUrl: string | undefined
  serviceWorker: boolean
}

const SERVER_BUILD = '.server/entry-server.js'
const ROOT = '<div id="root"></div>'
const TITLE = /<title>.*?<\/title>/
const DESCRIPTION = /<meta name="description" content="(.*?)"[ /]*>/
const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g
const MAIN_SCRIPT = /<script type="module"[^>]* src="(.*?)"[^>]*><\/script>\s*/
const PRELOADED_SCRIPT = /<link rel="modulepreload"[^>]* href="(.*?)"[^>]*>\s*/g
const STYLE_SHEET = /<link rel="stylesheet"[^>]* href="(.*?)"[^>]*>/
const NO_SCRIPT = /<noscript>.*?<\/noscript>\s*/

/** Reads the built page and fills in the operator's configuration; null when the web app was not built. */
export async function loadWebApp(folder: string, facts: Facts): Promise<WebApp | null> {
  const path = join(folder, 'index.html')
  if (!existsSync(path)) return null
  const built = await readFile(path, 'utf8')
  const { appName, publicUrl, serviceWorker } = facts
  const shell = frameOf(built.replace(DESCRIPTION, ''), facts)
  const scripts = [...built.matchAll(INLINE_SCRIPT)].map(([, code = '']) => code)
  const style = await readStyle(folder, built)
  return {
    folder,
    shell,
    rendered:
      style === null
        ? null
        : {
            frame: renderedFrame(shell, style),
            render: await loadRenderer(folder, facts),
          },
    serviceWorker,
    site: { appName, publicUrl, description: DESCRIPTION.exec(built)?.[1] ?? '' },
    inlineHashes: {
      scripts: (style === null ? scripts : [...scripts, LOADER]).map(hashOf),
      styles: style === null ? [] : [hashOf(style)],
    },
  }
}

function frameOf(html: string, { appName, editPeriodSeconds, serviceWorker }: Facts): PageFrame {
  const [before = '', after = ''] = html.split(TITLE)
  const settings =
    `<meta name="application-name" content="${escapeHtml(appName)}">` +
    `<meta name="edit-period-seconds" content="${editPeriodSeconds}">` +
    (serviceWorker ? '' : '<meta name="service-worker" content="off">')
  return { before: before + settings, after }
}

/** Returns the style sheet that rendered pages contain; null in a build that renders none. */
async function readStyle(folder: string, html: string): Promise<string | null> {
  const href = STYLE_SHEET.exec(html)?.[1]
  if (href === undefined || !existsSync(join(folder, SERVER_BUILD))) return null
  return (await readFile(join(folder, href), 'utf8')).trim()
}

async function loadRenderer(folder: string, settings: Facts): Promise<RenderPage> {
  const build: ServerBuild = await import(pathToFileURL(join(folder, SERVER_BUILD)).href)
  return build.createRenderer(settings)
}

/** The frame whose first paint waits for nothing: the style is inline, and a loader fetches the scripts after the paint. */
function renderedFrame({ before, after }: PageFrame, style: string): RenderedFrame {
  const main = MAIN_SCRIPT.exec(after)?.[1] ?? ''
  const preloads = [...after.matchAll(PRELOADED_SCRIPT)].map(([, href = '']) => href)
  const [start = '', end = ''] = after
    .replace(MAIN_SCRIPT, '')
    .replace(PRELOADED_SCRIPT, '')
    .replace(NO_SCRIPT, '')
    // The disabled link is not fetched. It tells the loader of lazy chunks that the page has this style sheet.
    .replace(
      STYLE_SHEET,
      (_link, href: string) =>
        `<style>${style}</style><link rel="stylesheet" href="${href}" disabled>`,
    )
    .split(ROOT)
  return {
    before: before.replace('<html ', '<html data-static '),
    after: `${start}<div id="root">`,
    end: end.replace('</body>', `${loaderOf(main, preloads)}</body>`),
  }
}

function hashOf(inline: string): string {
  return `'sha256-${createHash('sha256').update(inline).digest('base64')}'`
}
