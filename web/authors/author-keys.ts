import type { QueryClient } from '@tanstack/react-query'
import type { Profile } from '../../contract/profiles.ts'

// In its own file, because the first script needs the keys, but not the queries.

export const authorKey = (username: string) => ['author', username.toLowerCase()]

export const listNameOf = {
  author: (userId: string) => `posts-of ${userId}` as const,
  authorReplies: (userId: string) => `replies-of ${userId}` as const,
}

/** Caches the author of a rendered page; null if nobody has the name. */
export function seedAuthor(client: QueryClient, username: string, author: Profile | null): void {
  client.setQueryData(authorKey(username), author)
}
