import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import { postPath } from '../../contract/pages.ts'
import type { Post } from '../../contract/posts.ts'
import { requirePost } from '../features/posts/hydrate-posts.ts'
import { CACHE_CONTROL, isNotModified } from '../kernel/cache/cached-response.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { withHandlerDeadline } from '../kernel/http/route.ts'
import type { Limits } from '../kernel/limits/limits.ts'
import { createPainter } from './painter.ts'
import type { WebApp } from './web-app.ts'

type Options = {
  web: Pick<WebApp, 'appName' | 'maker'>
  db: Db
  limits: Limits
}
type PictureRequest = { Params: { id: string } }

const PICTURE_PATH = `${postPath('')}:id/picture.png`
/** Counts the changes of how pictures look. */
const DESIGN = 1
const CACHED_BYTES = 16 * 1024 * 1024
/** After which the picture of a deleted post, which nobody is sent, has left the memory too. */
const CACHED_MS = 10 * 60_000
/** Of Europe, the Caucasus and the Near East, as the fonts of paint-post.ts have them. */
const LETTERS = String.raw`\u00a0-\u02e9\u0300-\u034f\u0370-\u0377\u0384-\u0525\u0531-\u055f\u0561-\u0586\u05b0-\u05c3\u05d0-\u05ea\u0621-\u063a\u0640-\u0655\u0660-\u0670\u0679-\u06bf\u06cc\u06f0-\u06f9\u10d0-\u10fa\u1e00-\u1efb`
const SYMBOLS = String.raw`\u060c\u061b\u061f\u2000-\u2064\u20a0-\u20b5\u20b8-\u20ba\u20bd\u2116-\u2122\u2190-\u2311\u2500-\u2638`
const DRAWN = new RegExp(
  `^(?!.*👪)[\\n -~${LETTERS}${SYMBOLS}\\p{Emoji}\\p{Emoji_Component}]*$`,
  'u',
)

/** Returns where the picture of a post is; undefined where the fonts lack a letter of it. */
export function picturePath(post: Post, appName: string): string | undefined {
  if (!DRAWN.test(post.text)) return undefined
  return `${PICTURE_PATH.replace(':id', post.id)}?v=${tagOf(post, appName)}`
}

/** Names what a picture shows, so that an edited post has another address for whoever keeps it. */
function tagOf({ text, owner }: Post, appName: string): string {
  const shown = JSON.stringify([DESIGN, text, owner.username, appName])
  return createHash('sha1').update(shown).digest('base64url').slice(0, 12)
}

/**
 * Serves the pictures of posts for link previews. Each request reads the post, so that its picture
 * is there exactly as long as the post is.
 */
export async function servePostPictures(
  app: FastifyInstance,
  { web, db, limits }: Options,
): Promise<void> {
  const { appName, maker } = web
  const painter = createPainter()
  app.addHook('onClose', painter.stop)
  const cached = new LRUCache<string, { tag: string; png: Buffer }>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ png }) => 512 + png.length,
    ttl: CACHED_MS,
    ttlAutopurge: true,
  })

  async function readTagged(id: string): Promise<{ post: Post; tag: string }> {
    const post = await requirePost(db, id, null)
    if (!DRAWN.test(post.text)) throw new AppError('NOT_FOUND')
    return { post, tag: tagOf(post, appName) }
  }

  async function paint({ id, text, owner: { username } }: Post, tag: string): Promise<Buffer> {
    const parts = await maker.pictureParts(username)
    const png = await painter.paint({ tag, text, username, appName, ...parts })
    const { tag: now } = await readTagged(id)
    // The post was edited meanwhile: its new page names another picture.
    if (now !== tag) throw new AppError('UNAVAILABLE')
    cached.set(id, { tag, png })
    return png
  }

  await app.register(async (pictures) => {
    pictures.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))
    pictures.get<PictureRequest>(
      PICTURE_PATH,
      { schema: { hide: true } },
      async (request, reply) => {
        const { id } = request.params
        // Before the database is asked: a storm of pictures costs reads as little as it can.
        if (painter.gate.isFull && !cached.has(id)) throw painter.gate.refusal()
        const { post, tag } = await readTagged(id).catch((error) => {
          cached.delete(id)
          throw error
        })
        reply.headers({ 'cache-control': CACHE_CONTROL, etag: `"${tag}"` })
        if (isNotModified({ tag }, request.headers['if-none-match'])) return reply.code(304).send()
        const kept = cached.get(id)
        reply.type('image/png')
        return kept?.tag === tag ? kept.png : withHandlerDeadline(paint(post, tag))
      },
    )
  })
}
