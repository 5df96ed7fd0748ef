import type { Post } from '../../contract/posts.ts'

export function postOf(text: string): Post {
  return {
    id: '1',
    text,
    created_at: 1_790_000_000,
    is_modified: false,
    owner: { id: '1', username: 'olga1' },
    actions: {
      is_liked: false,
      likes_count: 2,
      replies_count: 3,
      parent_post_id: null,
      replied_post_id: null,
      replied_post: null,
    },
  }
}
