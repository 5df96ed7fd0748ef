import { PAGE_FRAMES_FILE, type PageFrames } from '../../contract/pages.ts'

/** The frames of a build without a style of its own. */
export const FRAMES: PageFrames = {
  shell: {
    before: '<!doctype html><html data-static lang="ru"><head><meta charset="utf-8" />',
    after:
      '<script type="module" src="/assets/index.js"></script></head><body><div id="root"></div><p id="no-scripts">Скрипты страницы не работают</p></body></html>',
  },
  rendered: {
    before: '<!doctype html><html data-static lang="ru"><head><meta charset="utf-8" />',
    after: '<style>body{margin:0}</style></head><body><div id="root">',
    end: '<script>load()</script></body></html>',
  },
  inlineHashes: { scripts: ["'sha256-script'"], styles: ["'sha256-style'"] },
}
/**
 * Shows the address, how often it has rendered, and at which priority it was loaded and renders.
 * Fails or ends its thread if the text of a post is «Сбой» or «Конец».
 */
const RENDERER = `import { getPriority } from 'node:os'
const loadedAt = getPriority()
export const pictureParts = {
  drawTile: () => ({ tone: 1, pale: 'M0 0h36', tinted: 'M0 9h36', full: 'M0 18h36' }),
  mark: 'M0 0h24v24H0z',
}
let count = 0
export async function createRenderer({ appName }) {
  return (path, first) => {
    if (first.post?.text === 'Сбой') throw new Error('This post cannot be rendered')
    if (first.post?.text === 'Конец') queueMicrotask(() => { throw new Error('The thread ends') })
    const priorities = loadedAt + ' ' + getPriority()
    return '<main data-count="' + ++count + '" data-priorities="' + priorities + '">' + appName + ' ' + first.shows + ' ' + path + '</main>'
  }
}`
/** The files of a build of the web app, by path. */
export const WEB_FILES = {
  [PAGE_FRAMES_FILE]: JSON.stringify(FRAMES),
  '.server/package.json': '{"type":"module"}',
  '.server/entry-server.js': RENDERER,
  'assets/index.js': 'start()',
  'service-worker.js': 'handleRequests()',
  'service-worker-off.js': 'removeEverything()',
  'manifest.webmanifest': JSON.stringify({ id: '/', name: 'Вслух', short_name: 'Вслух' }),
}
