/** The style sheet of the page. */
export const STYLE = 'body{margin:0}'
const INDEX = `<!doctype html><html lang="ru"><head><meta charset="utf-8" /><title>Имя</title>
<meta name="description" content="О чём это." />
<script type="module" crossorigin src="/assets/index.js"></script>
<link rel="modulepreload" crossorigin href="/assets/vendor.js">
<link rel="stylesheet" crossorigin href="/assets/index.css"></head>
<body><div id="root"></div><noscript>Включите JavaScript.</noscript></body></html>`
/** Stands for the built app: shows the address, how often it has rendered, and takes 20 ms for a post that says so. */
const RENDERER = `let count = 0
export async function createRenderer({ appName }) {
  return (path, first) => {
    const end = performance.now() + (first.post?.text.startsWith('Медленно') ? 20 : 0)
    while (performance.now() < end);
    return '<main data-count="' + ++count + '">' + appName + ' ' + first.shows + ' ' + path + '</main>'
  }
}`
/** The files of a build of the web app, by path. */
export const WEB_FILES = {
  'index.html': INDEX,
  'assets/index.css': `${STYLE}\n`,
  '.server/package.json': '{"type":"module"}',
  '.server/entry-server.js': RENDERER,
}
