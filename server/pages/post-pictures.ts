import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Post } from '../../contract/posts.ts'
import { requirePost } from '../features/posts/hydrate-posts.ts'
import { CACHE_CONTROL, isNotModified } from '../kernel/cache/cached-response.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { withHandlerDeadline } from '../kernel/http/server.ts'
import type { Limits } from '../kernel/limits/limits.ts'
import { isDrawn, PICTURE_PATH, pictureTag } from './page-head.ts'
import { createPainter } from './painter.ts'
import type { WebApp } from './web-app.ts'

type Options = {
  web: Pick<WebApp, 'appName' | 'maker'>
  db: Db
  limits: Limits
}
type PictureRequest = { Params: { id: string } }

const CACHED_BYTES = 16 * 1024 * 1024
/** After this time the picture of a deleted post has left the memory too. */
const CACHED_MS = 10 * 60_000

/** Serves pictures for link previews. It reads the post each time: no picture outlives its post. */
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
    if (!isDrawn(post)) throw new AppError('NOT_FOUND')
    return { post, tag: pictureTag(post, appName) }
  }

  async function paint({ id, text, owner: { username } }: Post, tag: string): Promise<Buffer> {
    const parts = await maker.pictureParts(username)
    const png = await painter.paint({ tag, text, username, appName, ...parts })
    const { tag: now } = await readTagged(id)
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
        // Checked before the read, so that many requests for pictures do not slow other reads.
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
