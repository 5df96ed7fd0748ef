import { EventEmitter, once } from 'node:events'
import type { Db } from '../../server/db/database.ts'

/** What the product has said that it has, to be held against what it really has. */
export class Ledger {
  /** Posts and replies by id: text, and the post answered. */
  readonly posts = new Map<string, { text: string; repliedTo: string | null }>()
  /** Whether a user likes a post; undefined where a wish was not answered, and nobody knows. */
  readonly likes = new Map<string, boolean | undefined>()
  readonly #news = new EventEmitter()

  post(id: string, text: string, repliedTo: string | null): void {
    this.posts.set(id, { text, repliedTo })
    this.#news.emit('post')
  }

  like(postId: string, userId: string, isLiked: boolean | undefined): void {
    this.likes.set(`${postId} ${userId}`, isLiked)
  }

  /** Resolves once so many more posts and replies were acknowledged. */
  async grows(by: number): Promise<void> {
    const goal = this.posts.size + by
    while (this.posts.size < goal) await once(this.#news, 'post')
  }

  /** What was acknowledged and is not in the database as it was acknowledged. */
  async lostIn(db: Db): Promise<string[]> {
    const rows = await db.selectFrom('posts').select(['id', 'text', 'replied_post_id']).execute()
    const posts = new Map(rows.map((row) => [row.id, row]))
    const lostPosts = [...this.posts].filter(([id, { text, repliedTo }]) => {
      const row = posts.get(id)
      return row?.text !== text || row.replied_post_id !== repliedTo
    })
    const likes = await db.selectFrom('likes').select(['post_id', 'user_id']).execute()
    const liked = new Set(likes.map((row) => `${row.post_id} ${row.user_id}`))
    const lostLikes = [...this.likes].filter(
      ([key, isLiked]) => isLiked !== undefined && isLiked !== liked.has(key),
    )
    return [...lostPosts, ...lostLikes].map(([key]) => key)
  }
}
