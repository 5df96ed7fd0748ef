/**
 * What a committed write changed, as far as cached responses show it: new posts, which only add; one post, which was edited
 * or removed; or any number of posts in any way. Likes are no change: a cached response may lack those of the last second.
 */
export type Change = 'posts' | 'posts added' | `posts changed ${string}`
