/**
 * What a committed write changed, as far as cached responses show it: the likes of one post or of any; new posts, which only
 * add; one post, which was edited or removed; or any number of posts in any way. Nodes of an earlier release know the first
 * word only.
 */
export type Change =
  | 'likes'
  | `likes ${string}`
  | 'posts'
  | 'posts added'
  | `posts changed ${string}`
