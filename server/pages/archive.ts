import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { TEXT_NAMES } from '../../contract/constants.ts'
import { formatDate } from '../../contract/dates.ts'
import {
  authorPath,
  type FEED_PATHS,
  feedPath,
  OPEN_SITE,
  PATHS,
  type Page,
  postPath,
  withCursor,
} from '../../contract/pages.ts'
import type { Post } from '../../contract/posts.ts'
import { readAuthors } from '../features/account/account.service.ts'
import { readPosts } from '../features/posts/hydrate-posts.ts'
import { readIdRanges, readPostsInRange } from '../features/posts/id-ranges.ts'
import { readSiteState } from '../features/site-state/site-state.service.ts'
import { createTexts } from '../features/texts/texts.service.ts'
import { type Config, originOf } from '../kernel/config/config.ts'
import { ifExists } from '../kernel/config/read-if-exists.ts'
import { removeAbandonedFiles, removePath, unfinishedPath } from '../kernel/config/replace-file.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError, StartError } from '../kernel/errors/app-error.ts'
import { writeFeed } from './feeds.ts'
import { isDrawable, PICTURE_PATH } from './page-head.ts'
import { createPainter, paintPost } from './post-pictures.ts'
import { type PublicPage, RenderedPages } from './rendered-pages.ts'
import { makeIndex, makeSitemap, robotsText, SITEMAP_IDS } from './sitemap.ts'
import { loadWebApp, type WebApp } from './web-app.ts'

/** The file that marks a folder as an archive, which the next one may replace. */
const MARK = '.vslukh-archive'
/** More than any wall has: 2^31 ids. */
const RANGES_MAX = 400_000
/** Posts are read, and their pages made, in steps of so many. */
const STEP = 100

export type ArchiveOptions = {
  db: Db
  config: Config
  idBase: string
  webFolder: string
  /** Whether posts get the pictures that messengers show; they take most of the time. */
  hasPictures: boolean
  onProgress: (done: number, total: number) => void | Promise<void>
}

export type ArchiveCounts = { posts: number; authors: number; files: number }

/**
 * Writes all public pages, feeds and pictures of the wall as files that any web server can serve at
 * the same addresses. The folder appears when it is complete, in place of an earlier archive. Throws
 * StartError if it holds anything else, or if posts have left the wall meanwhile.
 */
export async function writeArchive(
  folder: string,
  options: ArchiveOptions,
): Promise<ArchiveCounts> {
  const names = (await ifExists(readdir(folder))) ?? []
  if (names.length > 0 && !names.includes(MARK)) {
    throw new StartError(`В ${folder} лежит другое. Назовите новую или пустую папку.`)
  }
  await removeAbandonedFiles(dirname(folder))
  const fresh = unfinishedPath(folder)
  const former = unfinishedPath(folder)
  try {
    await using writer = await ArchiveWriter.open(fresh, options)
    const counts = await writer.writeAll()
    await ifExists(rename(folder, former))
    await rename(fresh, folder)
    return counts
  } finally {
    for (const path of [fresh, former]) await removePath(path)
  }
}

const unused = () => Promise.reject(new Error('Nobody requests the pages of an archive'))

class ArchiveWriter {
  readonly #options: ArchiveOptions
  readonly #web: WebApp
  readonly #pages: RenderedPages
  readonly #painter = createPainter()
  readonly #files: StaticFiles
  readonly #origin: string

  private constructor(folder: string, options: ArchiveOptions, web: WebApp) {
    const { db, config } = options
    this.#options = options
    this.#web = web
    this.#files = new StaticFiles(folder)
    this.#origin = originOf(config)
    const texts = { ...config, folder: join(config.dataDir, 'pages'), origin: this.#origin }
    const cache = { serveShared: unused }
    const sources = { db, headers: {}, readText: createTexts(texts), cache, search: unused }
    const state = archivedState(db)
    this.#pages = new RenderedPages(web, sources, () => state)
  }

  static async open(folder: string, options: ArchiveOptions): Promise<ArchiveWriter> {
    const { config, idBase, webFolder } = options
    const web = await loadWebApp(webFolder, { ...config, idBase })
    if (!web) throw new StartError('Страницы стены не собраны: запустите сервер один раз.')
    return new ArchiveWriter(folder, options, web)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#web.maker.stop(), this.#painter.stop()])
  }

  async writeAll(): Promise<ArchiveCounts> {
    await this.#files.write(MARK, '')
    await this.#copyAppFiles()
    await this.#writeSite()
    const posts = await this.#writePosts()
    const authors = await this.#writeAuthors()
    await this.#requireVisible(posts)
    return { posts: posts.length, authors, files: this.#files.count }
  }

  /** Copies fonts, icons and style sheets; a script that ends the service worker is the only one. */
  async #copyAppFiles(): Promise<void> {
    const { folder } = this.#web
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    for (const file of found.filter((one) => one.isFile())) {
      const path = relative(folder, join(file.parentPath, file.name))
      if (path.startsWith('.') || /\.(?:js|map|br|gz|webmanifest)$/.test(path)) continue
      await this.#files.copy(join(folder, path), path)
    }
    await this.#files.copy(join(folder, 'service-worker-off.js'), 'service-worker.js')
  }

  async #writeSite(): Promise<void> {
    const { db } = this.#options
    const { identity } = await this.#pages.missingPage('nothing')
    await this.#files.writePage('/404.html', identity.body.toString())
    for (const name of TEXT_NAMES) await this.#writeList({ name, path: PATHS[name] })
    await this.#writeList({ name: 'wall', path: PATHS.wall })
    await this.#writeFeed('atom')
    await this.#writeFeed('json')
    await this.#files.write('robots.txt', robotsText(this.#origin))
    await this.#files.write('sitemap.xml', await makeIndex(db, this.#origin))
  }

  async #writeFeed(name: keyof typeof FEED_PATHS, about = ''): Promise<void> {
    const { body } = await writeFeed(this.#options, { name, about, cursor: '' })
    await this.#files.write(feedPath(name, about), body)
  }

  /** Returns the ids of the posts and replies that were written. */
  async #writePosts(): Promise<string[]> {
    const { db, onProgress } = this.#options
    const written: string[] = []
    const ranges = await readIdRanges(db, { size: SITEMAP_IDS, count: RANGES_MAX })
    for (const [done, { number }] of ranges.entries()) {
      await this.#files.write(`sitemap/${number}.xml`, await makeSitemap(db, this.#origin, number))
      const ids = (await readPostsInRange(db, { size: SITEMAP_IDS, number })).map(({ id }) => id)
      for (let from = 0; from < ids.length; from += STEP) {
        for (const post of await readPosts(db, ids.slice(from, from + STEP), null)) {
          if (await this.#writePost(post)) written.push(post.id)
        }
        await onProgress(done * SITEMAP_IDS + from, ranges.length * SITEMAP_IDS)
      }
    }
    return written
  }

  /** Returns false if the post has left the wall. */
  async #writePost(post: Post): Promise<boolean> {
    const { id } = post
    try {
      await this.#writeList({ name: 'post', path: postPath(id), id })
      await this.#writeFeed('replies', id)
    } catch (error) {
      if (error instanceof AppError && error.code === 'POST_NOT_FOUND') return false
      throw error
    }
    if (this.#options.hasPictures && isDrawable(post)) {
      const picture = await paintPost(post, { ...this.#web, painter: this.#painter })
      await this.#files.write(PICTURE_PATH.replace(':id', id), picture)
    }
    return true
  }

  async #writeAuthors(): Promise<number> {
    let count = 0
    for await (const usernames of readAuthors(this.#options.db, STEP)) {
      for (const username of usernames) {
        for (const name of ['author', 'authorReplies'] as const) {
          await this.#writeList({ name, path: authorPath(username, name), username })
        }
        await this.#writeFeed('author', username)
      }
      count += usernames.length
    }
    return count
  }

  /** Writes a page and, if it shows a list, the pages to which each leads. */
  async #writeList(page: Page): Promise<void> {
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const html = (await this.#pages.render({ ...page, cursor, q: '' } as PublicPage)).toString()
      await this.#files.writePage(withCursor(page.path, cursor), html)
      cursor = nextCursorIn(html, page.path)
    }
  }

  /** Throws StartError if a written post is no longer visible. */
  async #requireVisible(written: string[]): Promise<void> {
    let gone = written.length
    for (let from = 0; from < written.length; from += STEP) {
      gone -= (await readPosts(this.#options.db, written.slice(from, from + STEP), null)).length
    }
    if (gone === 0) return
    throw new StartError(
      `Пока писался архив, со стены исчезли записи: ${gone}. В архиве их быть не должно: повторите.`,
    )
  }
}

/** Shows on every page that it is an archive, and no closing: nothing can be written here anyway. */
async function archivedState(db: Db) {
  const { moderators } = await readSiteState(db)
  const text = `Это архив стены на ${formatDate(new Date())}: его можно только читать`
  return { ...OPEN_SITE, notice: { id: 'archive', text }, ...(moderators && { moderators }) }
}

/** A link to a further page of a list; lists that begin with the oldest are not written. */
const LIST_LINK = /href="([^"?]*)\?cursor=(\d+)"/g

function nextCursorIn(html: string, path: string): string | undefined {
  return [...html.matchAll(LIST_LINK)].find(([, of]) => of === path)?.[2]
}

/** Leaves out of every page what needs the server. */
const HIDDEN =
  '<style>button,search,#no-scripts,[href="/search"],[href^="/settings"],[href*="cursor=oldest"]{display:none!important}</style>'

/** Files that a web server finds by the paths of the wall: `/posts/1` is `posts/1/index.html`. */
class StaticFiles {
  readonly #folder: string
  readonly #folders = new Set<string>()
  readonly #sheets = new Set<string>()
  count = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await writeFile(await this.#place(path), content)
  }

  async copy(from: string, path: string): Promise<void> {
    await copyFile(from, await this.#place(path))
  }

  async writePage(url: string, html: string): Promise<void> {
    const path = staticPath(url)
    await this.write(/\.\w+$/.test(path) ? path : `${path}/index.html`, await this.#toStatic(html))
  }

  /** Removes scripts, moves the style sheet into a file of its own, and links between files. */
  async #toStatic(html: string): Promise<string> {
    const [style = '', css = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? []
    const sheet = `/assets/${createHash('sha1').update(css).digest('hex').slice(0, 12)}.css`
    if (css !== '' && !this.#sheets.has(sheet)) {
      await this.write(sheet, css)
      this.#sheets.add(sheet)
    }
    return html
      .replace(style, () => `<link rel="stylesheet" href="${sheet}">${HIDDEN}`)
      .replaceAll(/<script(?![^>]*ld\+json)[^>]*>.*?<\/script>|<link rel="manifest"[^>]*>/gs, '')
      .replaceAll(
        LIST_LINK,
        (_, path, cursor) => `href="${staticPath(`${path}?cursor=${cursor}`)}"`,
      )
      .replaceAll(/(<time datetime="([^"]+)"[^>]*>)[^<]*(?=<\/time>)/gi, (_, tag, at) => {
        return tag + formatDate(new Date(at))
      })
  }

  async #place(path: string): Promise<string> {
    const file = join(this.#folder, decodeURIComponent(path))
    const folder = dirname(file)
    if (!this.#folders.has(folder)) await mkdir(folder, { recursive: true })
    this.#folders.add(folder)
    this.count++
    return file
  }
}

/** Returns the path of a page, whose cursor becomes a folder: files have no query. */
function staticPath(url: string): string {
  const [path = '', cursor] = url.split('?cursor=')
  return cursor === undefined ? path : `${path === '/' ? '' : path}/page/${cursor}`
}
