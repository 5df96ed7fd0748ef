import { EMPTY_POST_BODY } from './post-rules.ts'
import type { Post, PostBody } from './posts.ts'

/** Has another value than EMPTY_POST_BODY in each field. */
export const SOMETHING: Required<PostBody> = { text: 'Переписано' }

export function makePost(id: string, actions: Partial<Post['actions']> = {}): Post {
  return {
    ...EMPTY_POST_BODY,
    id,
    text: `запись ${id}`,
    created_at: 1000,
    is_modified: false,
    owner: { id: 'u1', username: 'olga_v' },
    actions: {
      is_liked: false,
      likes_count: 0,
      replies_count: 0,
      parent_post_id: null,
      replied_post_id: null,
      replied_post: null,
      ...actions,
    },
  }
}

/** The actions of a reply to a post. */
export function replyTo(post: Post): Partial<Post['actions']> {
  const replied_post = { ...post, actions: { ...post.actions, replied_post: null } }
  return { parent_post_id: post.id, replied_post_id: post.id, replied_post }
}
