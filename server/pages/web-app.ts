import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PAGE_FRAMES_FILE, type PageFrames, type PageSettings } from '../../contract/pages.ts'
import { readIfExists } from '../kernel/config/read-if-exists.ts'
import { escapeHtml } from '../kernel/http/escape.ts'
import { createPageMaker, type PageMaker } from './page-maker.ts'

type Settings = PageSettings & {
  publicUrl: string | undefined
  /** Whether browsers get the service worker; if not, they get one that removes it. */
  serviceWorker: boolean
}

/** The built web app, its frames with the settings that the browser needs at once. */
export type WebApp = PageFrames & Settings & { folder: string; maker: PageMaker }

const SERVER_BUILD = '.server/entry-server.js'

/** Reads the built web app and fills in the operator's settings; null when it was not built. */
export async function loadWebApp(folder: string, settings: Settings): Promise<WebApp | null> {
  const built = await readIfExists(join(folder, PAGE_FRAMES_FILE))
  if (built === undefined) return null
  const { appName, editPeriodSeconds, publicUrl, serviceWorker } = settings
  const { shell, rendered: plain, inlineHashes }: PageFrames = JSON.parse(built)
  const metas =
    `<meta name="application-name" content="${escapeHtml(appName)}">` +
    `<meta name="edit-period-seconds" content="${editPeriodSeconds}">` +
    (serviceWorker ? '' : '<meta name="service-worker" content="off">')
  const rendered = { ...plain, before: plain.before + metas }
  return {
    ...{ folder, appName, editPeriodSeconds, publicUrl, serviceWorker, inlineHashes },
    shell: { ...shell, before: shell.before + metas },
    rendered,
    maker: createPageMaker({
      build: pathToFileURL(join(folder, SERVER_BUILD)).href,
      settings: { appName, editPeriodSeconds },
      frames: rendered,
    }),
  }
}
