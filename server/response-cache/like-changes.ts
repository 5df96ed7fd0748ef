/** The number of posts whose last like is remembered. A response lives for a second, in which fewer posts are liked. */
const MAX_POSTS = 10_000

/**
 * Remembers which posts' likes have changed, so that a like makes only those responses wrong that show its post. A change
 * is named by how many came before it.
 */
export function createLikeChanges(maxPosts = MAX_POSTS) {
  /** The last change of each post, in the order of the changes. */
  const lastChanges = new Map<string, number>()
  let count = 0
  /** The last change of posts that are no longer remembered. */
  let evictedUpTo = 0

  return {
    /** How many changes there were so far. */
    count: () => count,

    /** Notes that the likes of a post have changed; of any post, where it is not said which. */
    note(postId?: string): void {
      count++
      if (postId === undefined) {
        evictedUpTo = count
        return
      }
      lastChanges.delete(postId)
      lastChanges.set(postId, count)
      const [oldest] = lastChanges
      if (!oldest || lastChanges.size <= maxPosts) return
      lastChanges.delete(oldest[0])
      evictedUpTo = Math.max(evictedUpTo, oldest[1])
    },

    /** Whether no likes of some posts have changed since there were `since` changes. */
    isCurrent(since: number, posts: { postId: string }[]): boolean {
      if (since === count) return true
      return (
        since >= evictedUpTo && posts.every(({ postId }) => (lastChanges.get(postId) ?? 0) <= since)
      )
    },
  }
}
