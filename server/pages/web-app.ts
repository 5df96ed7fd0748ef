import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PAGE_FRAMES_FILE, type PageFrames, type PageSettings } from '../../contract/pages.ts'
import type { Search } from '../features/search/search.service.ts'
import type { Sessions } from '../features/sessions/sessions.service.ts'
import type { ReadText } from '../features/texts/texts.service.ts'
import type { ResponseCache } from '../kernel/cache/response-cache.ts'
import { readIfExists } from '../kernel/config/read-if-exists.ts'
import { escapeHtml } from '../kernel/http/escape.ts'
import type { ServerContext } from '../kernel/server-context.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import type {
  Answer,
  MadePage,
  MakerData,
  MakerRequest,
  PageParts,
  PictureParts,
} from './make-page.ts'

type Settings = PageSettings & {
  publicUrl: string | undefined
  idBase: string
  /** Whether browsers get the service worker; if not, they get a script that removes it. */
  serviceWorker: boolean
}

export type WebApp = PageFrames & Settings & { folder: string; maker: PageMaker }

/** The server context with what its pages, files, feeds and sitemap need. */
export type PagesContext = ServerContext & {
  /** The built web app; null if it was not built: then no pages are served. */
  web: WebApp | null
  cache: Pick<ResponseCache, 'serveShared'>
  headers: Record<string, string>
  sessions: Pick<Sessions, 'cookieName'>
  search: Search
  readText: ReadText
  handleMs?: number | undefined
}

const SERVER_BUILD = '.server/entry-server.js'

/** Reads the built web app and fills in the settings. Returns null if it was not built. */
export async function loadWebApp(folder: string, settings: Settings): Promise<WebApp | null> {
  const built = await readIfExists(join(folder, PAGE_FRAMES_FILE))
  if (built === undefined) return null
  const { appName, editPeriodSeconds, publicUrl, idBase, serviceWorker } = settings
  const { shell, inlineHashes, ...frames }: PageFrames = JSON.parse(built)
  const metas =
    `<meta name="application-name" content="${escapeHtml(appName)}">` +
    `<meta name="edit-period-seconds" content="${editPeriodSeconds}">` +
    (serviceWorker ? '' : '<meta name="service-worker" content="off">')
  const rendered = { ...frames.rendered, before: frames.rendered.before + metas }
  return {
    ...{ folder, appName, editPeriodSeconds, publicUrl, idBase, serviceWorker, inlineHashes },
    shell: { ...shell, before: shell.before + metas },
    rendered,
    maker: createPageMaker({
      build: pathToFileURL(join(folder, SERVER_BUILD)).href,
      settings: { appName, editPeriodSeconds },
      frames: rendered,
    }),
  }
}

const SILENCE_MS = 10_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 12 }

type PageMaker = ReturnType<typeof createPageMaker>

/** Creates a thread of lower priority that makes one page at a time, so that calls do not wait. */
function createPageMaker(data: MakerData) {
  const file = new URL('./make-page.ts', import.meta.url)
  const thread = createHelperThread<MakerRequest, Answer>(file, {
    memory: MEMORY,
    silenceMs: SILENCE_MS,
    data,
  })

  async function ask<A extends Answer>(what: MakerRequest): Promise<A> {
    const answer = await thread.ask(what)
    if ('failure' in answer) throw answer.failure
    return answer as A
  }

  return {
    make: (page: PageParts) => ask<MadePage>({ page }),
    pictureParts: (username: string) => ask<PictureParts>({ pictureOf: username }),
    stop: thread.stop,
  }
}
