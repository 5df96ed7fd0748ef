import { skipToken, useQuery } from '@tanstack/react-query'
import { pageAfter, type SearchState } from '../../contract/pages.ts'
import { NO_POSTS, type SearchScope, toPostPage } from '../../contract/search-rules.ts'
import { useEntry } from '../history/entry.tsx'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { queryClient } from '../http/query-client.ts'
import { searchStateKey } from '../posts/cache/posts.queries.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'

const NOTHING_YET: SearchState = { words: [], similar: [], refusal: null }

type Search = { q: string; scope: SearchScope | undefined; start: string; entryKey: string }

/** Returns the source of a search. A refused query has no results, but a reason in SearchState. */
export function searchSource({ q, scope, start, entryKey }: Search): ListSource {
  const key = searchStateKey(entryKey)
  return {
    name: scope ? `searchMine ${scope}` : 'search',
    start,
    isOneWay: true,
    read: async (cursor, signal) => {
      try {
        const query = { q, ...(scope && { scope }), ...pageAfter(cursor) }
        const { words, similar, ...found } = await call('GET /posts/search', { query }, { signal })
        queryClient.setQueryData<SearchState>(key, (known = NOTHING_YET) => ({
          words: [...new Set([...known.words, ...words])],
          similar: [...new Set([...known.similar, ...similar])],
          refusal: null,
        }))
        return toPostPage(found)
      } catch (error) {
        if (!(error instanceof CallError) || error.status !== 400) throw error
        queryClient.setQueryData<SearchState>(key, { ...NOTHING_YET, refusal: error.message })
        return NO_POSTS
      }
    },
  }
}

export function useSearchState(): SearchState {
  const queryKey = searchStateKey(useEntry().key)
  return useQuery<SearchState>({ queryKey, queryFn: skipToken }).data ?? NOTHING_YET
}
