import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { withFlag } from '../../contract/page-flags.ts'
import {
  FIRST_PAGE_START,
  type FirstPage,
  type PageFrames,
  type PageSettings,
  type ServerBuild,
  type Tile,
} from '../../contract/pages.ts'
import { lowerPriority } from '../kernel/threads/threads.ts'

export type PageParts = {
  url: string
  head: string
  /** The FirstPage as JSON. */
  data: string
  isVisitors: boolean
}
/** `tag` is a hash of the content without the time at which the page was made. */
export type MadePage = { body: Uint8Array; tag: string }
export type PictureParts = { tile: Tile; mark: string }
export type MakerRequest = { page: PageParts } | { pictureOf: string }
export type Answer = MadePage | PictureParts | { failure: Error }
export type MakerData = { build: string; settings: PageSettings; frames: PageFrames['rendered'] }

// This module runs in a helper thread, which web-app.ts starts.
const { build, settings, frames }: MakerData = workerData
const { createRenderer, pictureParts }: ServerBuild = await import(build)
const render = await createRenderer(settings)
// Only now: on a busy machine, loading at a lower priority takes longer than a page may.
lowerPriority()
parentPort?.on('message', (asked: MakerRequest) => parentPort?.postMessage(answer(asked)))

function answer(request: MakerRequest): Answer {
  try {
    if ('page' in request) return makePage(request.page)
    return { tile: pictureParts.drawTile(request.pictureOf), mark: pictureParts.mark }
  } catch (error) {
    return { failure: error as Error }
  }
}

function makePage({ url, head, data, isVisitors }: PageParts): MadePage {
  const first: FirstPage = JSON.parse(data)
  const { before, after, end } = frames
  // Chromium sends the whole address of a page, here with a token, as the Referer of web fonts.
  const looks = first.shows === 'reply mails' ? withFlag(before, 'sparing') : before
  const start = (isVisitors ? looks : withFlag(looks, 'session')) + head + after
  const content = render(url, first)
  const body = Buffer.from(`${start}${content}</div>${dataScript(data)}${end}`)
  // `now` is excluded, because the content already contains the times that the page shows.
  const shown = start + content + JSON.stringify({ ...first, now: 0 }) + end
  return { body, tag: hash('sha1', shown, 'base64url') }
}

/**
 * Returns the script element with the data of the page. FIRST_PAGE_START contains the first brace.
 * `<` is escaped, so that no text in the JSON can end the element.
 */
function dataScript(json: string): string {
  const escaped = json.slice(1).replaceAll('<', '\\u003c')
  return `<script type="application/json" ${FIRST_PAGE_START}${escaped}</script>`
}
