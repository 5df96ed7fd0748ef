import { vi } from 'vitest'
import type { Db } from '../../server/kernel/db/database.ts'

/** Every write that the product has acknowledged, to be compared with its database. */
export class AcknowledgedWrites {
  readonly posts = new Map<string, { text: string; repliedTo: string | null }>()
  /** Undefined after a like without an answer, which may have been written or not. */
  readonly likes = new Map<string, boolean | undefined>()

  addPost(id: string, text: string, repliedTo: string | null): void {
    this.posts.set(id, { text, repliedTo })
  }

  setLike(postId: string, userId: string, isLiked: boolean | undefined): void {
    this.likes.set(`${postId} ${userId}`, isLiked)
  }

  /** Resolves when `count` more posts and replies have been acknowledged. */
  async waitForMore(count: number): Promise<void> {
    const goal = this.posts.size + count
    await vi.waitUntil(() => this.posts.size >= goal, { timeout: 300_000, interval: 5 })
  }

  async findLost(db: Db): Promise<string[]> {
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
