import type { QueryClient } from '@tanstack/react-query'
import type { Profile } from '../../contract/profiles.ts'

// The first script needs nothing else of the queries.

export const authorKey = (username: string) => ['author', username.toLowerCase()]

export const listNameOf = {
  author: (userId: string) => `posts-of ${userId}` as const,
  authorReplies: (userId: string) => `replies-of ${userId}` as const,
}

/** Null where nobody has the name. */
export function seedAuthor(client: QueryClient, username: string, author: Profile | null): void {
  client.setQueryData(authorKey(username), author)
}
