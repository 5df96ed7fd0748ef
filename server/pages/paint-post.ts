import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { type Node, Renderer } from '@takumi-rs/wasm/node'
import type { Tile } from '../../contract/pages.ts'
import { joinEmptyLines } from '../../contract/post-rules.ts'
import { lowerPriority } from '../kernel/threads/threads.ts'

export type Painting = {
  text: string
  username: string
  tile: Tile
  appName: string
  mark: string
}
type Style = NonNullable<Node['style']>

const [WIDTH, HEIGHT] = [1200, 630]
const MARGIN = 72
const TEXT = { width: WIDTH - 2 * MARGIN, top: 56, height: 404, leading: 1.3 }
/** Font sizes in pixels; the largest size at which the whole text fits is used. */
const SIZES = [116, 96, 80, 68, 58, 50, 44, 39, 34, 30]
/** From this size down, a word that is too wide may be broken. */
const SMALL = 39
/** The width of a wide letter as a share of the font size. */
const LETTER = 0.64

const BRICK = { width: 240, height: 90, mortar: '#a63620' }
const BRICKS = ['#b8412a', '#b33f29', '#bd462f', '#ae3b26']
const PAPER = '#fbf9f6'
/** The tones of web/ui/tokens.css in the light theme. */
const TONES = [
  ...['#b46958', '#a57636', '#7b883e', '#4a9266'],
  ...['#0d9298', '#4f84ba', '#8574b6', '#ad6689'],
]

const GOLOS = '@fontsource-variable/golos-text/files/golos-text-'
const EMOJI = '@fontsource-variable/noto-emoji/files/noto-emoji-'
const FONTS: [name: string, files: string[]][] = [
  ['Golos', ['latin', 'cyrillic', 'latin-ext', 'cyrillic-ext'].map((set) => `${GOLOS}${set}-wght`)],
  ['Emoji', Array.from({ length: 10 }, (_, part) => `${EMOJI}${part}-wght`)],
  ['DejaVu', ['@fontsource/dejavu-sans/files/dejavu-sans-latin-400']],
]
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u
const FIRST_LETTER = /\p{L}/u

// This module runs in a helper thread, which post-pictures.ts starts.
lowerPriority()

const renderer = new Renderer()
for (const [name, files] of FONTS) {
  for (const file of files) {
    const path = fileURLToPath(import.meta.resolve(`${file}-normal.woff2`))
    // Read synchronously: libuv's threads would start here and inherit the low priority.
    await renderer.registerFont({ name, data: readFileSync(path) })
  }
}
const wall = svg(`0 0 ${WIDTH} ${HEIGHT}`, wallOfBricks())
parentPort?.on('message', async (painting: Painting) => {
  parentPort?.postMessage(await paint(painting))
})

async function paint({ text, username, tile, appName, mark }: Painting): Promise<Uint8Array> {
  const signed: Style = {
    left: MARGIN,
    top: 510,
    width: TEXT.width,
    gap: 22,
    alignItems: 'center',
    // A name without spaces is cut to its width only if it may be broken.
    overflowWrap: 'anywhere',
  }
  const page = box({ position: 'relative', width: WIDTH, height: HEIGHT, color: '#fff' }, [
    image('wall', { position: 'absolute', width: WIDTH, height: HEIGHT }),
    box({ position: 'absolute', left: MARGIN, top: TEXT.top, height: TEXT.height }, [
      await layOut(joinEmptyLines(text)),
    ]),
    box({ position: 'absolute', fontFamily: 'Golos, DejaVu', fontSize: 36, ...signed }, [
      box({ overflow: 'hidden', borderRadius: 20, backgroundColor: PAPER, flexShrink: 0 }, [
        image('tile', { width: 72, height: 72 }),
      ]),
      words(username, { flexGrow: 1, lineClamp: 1, fontWeight: 560 }),
      image('mark', { width: 52, height: 52, flexShrink: 0 }),
      words(appName, {
        maxWidth: 500,
        flexShrink: 0,
        lineClamp: 1,
        fontSize: 42,
        fontWeight: 700,
        letterSpacing: '-0.015em',
      }),
    ]),
  ])
  const images = [
    { src: 'wall', data: wall },
    { src: 'tile', data: tileOf(tile) },
    { src: 'mark', data: svg('0 0 24 24', `<path fill="#fff" d="${mark}"/>`) },
  ]
  return renderer.render(page, { width: WIDTH, height: HEIGHT, format: 'png', images })
}

/** Makes the text as large as its box allows; a text that is still too long is cut. */
async function layOut(text: string): Promise<Node> {
  const longest = Math.max(...text.split(/\s/).map((word) => [...word].length))
  for (const size of SIZES) {
    if (size > SMALL && longest * size * LETTER > TEXT.width) continue
    const node = paragraph(text, size)
    const { height } = await renderer.measure(box({ width: TEXT.width }, [node]), { width: WIDTH })
    if (height <= TEXT.height) return node
  }
  const smallest = SIZES.at(-1) ?? SMALL
  return paragraph(text, smallest, Math.floor(TEXT.height / smallest / TEXT.leading))
}

function paragraph(text: string, fontSize: number, lineClamp?: number): Node {
  const isRightToLeft = RIGHT_TO_LEFT.test(FIRST_LETTER.exec(text)?.[0] ?? '')
  return words(text, {
    fontSize,
    width: TEXT.width,
    alignSelf: 'center',
    // A space in another font than its neighbours would appear on the wrong side of them.
    fontFamily: RIGHT_TO_LEFT.test(text) ? 'DejaVu, Golos, Emoji' : 'Golos, Emoji, DejaVu',
    fontWeight: 560,
    lineHeight: TEXT.leading,
    ...(lineClamp && { lineClamp }),
    direction: isRightToLeft ? 'rtl' : 'ltr',
    textAlign: 'start',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
  })
}

function wallOfBricks(): string {
  const rows = Array.from({ length: HEIGHT / BRICK.height }, (_, row) => {
    const bricks = Array.from({ length: WIDTH / BRICK.width + 2 }, (_, column) => {
      const x = (column - (row % 2 === 0 ? 0.35 : 0.85)) * BRICK.width
      const fill = BRICKS[((row * 5 + column * 3 + row * column) % 7) % BRICKS.length]
      const size = `width="${BRICK.width - 3}" height="${BRICK.height - 3}" rx="4"`
      return `<rect x="${x}" y="${row * BRICK.height + 1.5}" ${size} fill="${fill}"/>`
    })
    return bricks.join('')
  })
  return `<rect width="${WIDTH}" height="${HEIGHT}" fill="${BRICK.mortar}"/>${rows.join('')}`
}

function tileOf({ tone, pale, tinted, full }: Tile): Buffer {
  const bricks = `<path opacity=".24" d="${pale}"/><path opacity=".52" d="${tinted}"/><path d="${full}"/>`
  return svg('0 -4.5 36 36', `<g stroke="${TONES[tone - 1]}" stroke-width="8">${bricks}</g>`)
}

function svg(viewBox: string, content: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${content}</svg>`,
  )
}

function box(style: Style, children: Node[]): Node {
  return { type: 'container', style: { display: 'flex', ...style }, children }
}

function words(text: string, style: Style): Node {
  return { type: 'text', text, style }
}

function image(src: string, style: Style): Node {
  return { type: 'image', src, style }
}
