import { LRUCache } from 'lru-cache'
import type { Post } from '../../contract/posts.ts'
import { requirePost } from '../features/posts/hydrate-posts.ts'
import { CACHE_CONTROL, isNotModified } from '../kernel/cache/cached-response.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { Gate } from '../kernel/gate/gate.ts'
import { VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { withHandlerDeadline } from '../kernel/http/server.ts'
import { widestNetworkOf } from '../kernel/limits/limits.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import { isDrawable, PICTURE_PATH, pictureTag, pictureText } from './page-head.ts'
import type { Painting } from './paint-post.ts'
import type { PagesContext, WebApp } from './web-app.ts'

type PictureRequest = { Params: { id: string } }

/** The longest painting. Requests end sooner; a late picture is cached for the next request. */
const PAINT_MS = 30_000
/** After this idle time the thread ends and frees the memory of its fonts. */
const IDLE_MS = 60_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }
/** The most pictures that may wait to be painted, in all and of one network; others are refused. */
const WAITING = { running: 8, each: 4 }
const CACHED_BYTES = 16 * 1024 * 1024
/** After this time the picture of a deleted post has left the memory too. */
const CACHED_MS = 10 * 60_000

/** Creates the painter, whose thread starts with the first picture and paints one at a time. */
export function createPainter() {
  return createHelperThread<Painting, Uint8Array>(new URL('./paint-post.ts', import.meta.url), {
    memory: MEMORY,
    silenceMs: PAINT_MS,
    idleMs: IDLE_MS,
  })
}

type Painter = Pick<WebApp, 'maker' | 'appName'> & { painter: ReturnType<typeof createPainter> }

/** Returns the picture of a post as PNG. */
export async function paintPost(post: Post, { painter, maker, appName }: Painter): Promise<Buffer> {
  const { username } = post.owner
  const parts = await maker.pictureParts(username)
  const painting = { text: pictureText(post), username, appName, ...parts }
  return Buffer.from(await painter.ask(painting))
}

/** Serves pictures for link previews. It reads the post each time: no picture outlives its post. */
export async function servePostPictures(
  { appName, maker }: WebApp,
  { http, db, limits, handleMs }: PagesContext,
): Promise<void> {
  const painter = createPainter()
  const gate = new Gate(WAITING)
  http.addHook('onClose', painter.stop)
  const pictures = new LRUCache<string, Buffer, { post: Post; network: string }>({
    maxSize: CACHED_BYTES,
    sizeCalculation: (png) => 512 + png.length,
    ttl: CACHED_MS,
    ttlAutopurge: true,
    fetchMethod: (_tag, _stale, { context: { post, network } }) =>
      gate.run(() => paintPost(post, { painter, maker, appName }), network),
  })

  await http.register(async (routes) => {
    routes.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))
    routes.get<PictureRequest>(PICTURE_PATH, async (request, reply) => {
      const post = await requirePost(db, request.params.id, null)
      if (!isDrawable(post)) throw new AppError('NOT_FOUND')
      const tag = pictureTag(post, appName)
      reply.headers({ 'cache-control': CACHE_CONTROL, etag: `"${tag}"` })
      if (isNotModified({ tag }, request.headers['if-none-match'])) return reply.code(304).send()
      reply.type('image/png')
      const context = { post, network: widestNetworkOf(request.ip) }
      return withHandlerDeadline(pictures.forceFetch(tag, { context }), handleMs)
    })
  })
}
