/** Posts were added, one was edited or removed, or any changed in any way. Likes are no change. */
export type Change = 'posts' | 'posts added' | `posts changed ${string}`
