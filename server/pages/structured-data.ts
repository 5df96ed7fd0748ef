import { postPath } from '../../contract/pages.ts'
import type { Post } from '../../contract/posts.ts'
import { escapeJson } from './escape.ts'

/**
 * Returns the JSON-LD of a post for search engines, as they describe it for forums:
 * https://developers.google.com/search/docs/appearance/structured-data/discussion-forum. Without a public origin it names no URL.
 */
export function structuredData(post: Post, publicUrl: string | undefined): string {
  const { text, owner, created_at, actions } = post
  const description = {
    '@context': 'https://schema.org',
    '@type': 'DiscussionForumPosting',
    ...(publicUrl && { url: publicUrl + postPath(post.id) }),
    text,
    author: { '@type': 'Person', name: owner.username },
    datePublished: new Date(created_at * 1000).toISOString(),
    commentCount: actions.replies_count,
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: 'https://schema.org/LikeAction',
      userInteractionCount: actions.likes_count,
    },
  }
  return `<script type="application/ld+json">${escapeJson(description)}</script>`
}
