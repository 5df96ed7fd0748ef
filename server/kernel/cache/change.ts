/**
 * What a committed write changed, as far as cached responses show it: new posts, one post that was
 * edited or removed, or any posts in any way. Likes are no change.
 */
export type Change = 'posts' | 'posts added' | `posts changed ${string}`
