import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { pageAfter, TITLES } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { call } from '../../http/call.ts'
import { fallBackOn } from '../../http/call-error.ts'
import { queryClient } from '../../http/query-client.ts'
import { LISTS } from './list-cache.ts'
import { nextVersion, putPost, putPosts, usePost } from './post-cache.ts'
import { type ListSource, type Newer, readPage } from './use-post-list.ts'

const READ_POST = 'read-post'
const READ_STALE_EVERY_MS = 5000

const NEWER_POSTS: Newer = {
  show: 'Показать новые записи',
  toTop: 'К новым записям',
  namedIn: ({ newest, by }) => (newest === undefined ? [] : [{ id: newest, by }]),
}

export function wallSource(start = ''): ListSource {
  return {
    name: 'wall',
    start,
    newer: NEWER_POSTS,
    read: (cursor, signal) => call('GET /posts', { query: pageAfter(cursor) }, { signal }),
  }
}

export const likedSource: ListSource = {
  name: 'liked',
  read: (cursor, signal) =>
    call('GET /posts', { query: { ...pageAfter(cursor), filter: 'liked' } }, { signal }),
}

export const MISSING_POST = {
  title: TITLES.noPost,
  text: 'Запись не существует или была удалена',
}

export function seedPost(id: string, post: Post | null): void {
  if (post) putPosts([post])
  else putPost(id, null)
  queryClient.setQueryData([READ_POST, id], true)
}

/** Returns null for a missing post. Throws CallError. */
export function readPost(id: string, signal?: AbortSignal): Promise<Post | null> {
  return fallBackOn(404, call('GET /posts/:id', { params: { id } }, { signal }), null)
}

/** Returns the cached post at once, while it is read again; null if it does not exist. */
export function useReadPost(id: string) {
  const data = usePost(id)
  const { error, refetch } = useQuery({
    queryKey: [READ_POST, id],
    queryFn: async ({ signal }) => {
      const version = nextVersion()
      const post = await readPost(id, signal)
      if (post) putPosts([post], version)
      else putPost(id, null, version)
      // The post has an entry of its own; this one only records that it was read.
      return true
    },
  })
  return { data, error, refetch }
}

/** Reads the wall until the answer is fresh, and then reads the posts of the page again. */
export function useFreshPosts(stale: boolean): void {
  useQuery({
    queryKey: ['fresh-posts'],
    queryFn: async ({ signal }) => {
      await readPage(wallSource(), '', signal)
      return true
    },
    enabled: stale,
    retry: false,
    staleTime: 0,
    refetchInterval: READ_STALE_EVERY_MS,
  })
  useEffect(() => {
    if (stale) return () => void queryClient.invalidateQueries({ queryKey: [READ_POST] })
  }, [stale])
}

/** Reads lists and posts again, because a page is rendered without the viewer's likes. */
export function readLikes(): void {
  for (const kind of [LISTS, READ_POST]) void queryClient.invalidateQueries({ queryKey: [kind] })
}

// The first script needs these keys, but not the queries in other chunks.

export const RECEIVED_KEY = ['received'] as const

export function searchStateKey(entryKey: string) {
  return [LISTS, 'search', entryKey, 'state'] as const
}

export function authorKey(username: string) {
  return ['author', username.toLowerCase()] as const
}
