import { useIsFetching } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { FROM_OLDEST, PAGE_SIZE } from '../../contract/constants.ts'
import {
  cursorAt,
  isOldestFirst,
  oppositeCursor,
  postPath,
  withCursor,
} from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { queryClient } from '../http/query-client.ts'
import { arrayOf, isString } from '../platform/guards.ts'
import { localStore } from '../platform/storage.ts'
import { onHide, whenVisible } from '../platform/timing.ts'
import { type CachedPages, pagesKey } from '../posts/cache/list-cache.ts'
import { type CachedPost, readCachedPost } from '../posts/cache/post-cache.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'
import type { IsFresh } from '../posts/view/post-card.tsx'
import { useUser } from '../session/viewer.ts'
import { classes } from '../ui/classes.ts'

/** Stores pairs of a thread and its newest seen reply, such as '12 34', the last visited first. */
const VISITS_KEY = 'threads'
const VISITS_MAX = 100

/** The newest reply seen before this visit, by history entry and thread, also after a return. */
const seenBefore = new Map<string, string | undefined>()

type VisitedThreadProps = {
  post: CachedPost
  source: ListSource
  isFresh: IsFresh
  className: string | undefined
  setFresh: (isFresh: () => IsFresh) => void
}

/** Marks the replies since the last visit, and links to them if the thread is long. */
export function VisitedThread({ post, source, isFresh, setFresh, className }: VisitedThreadProps) {
  const userId = useUser()?.id
  const queryKey = pagesKey(source.name, useEntry().key)
  const seen = useSeenBefore(post.id, source.start ?? '')
  useIsFetching({ queryKey })
  const ids = () =>
    queryClient.getQueryData<CachedPages>(queryKey)?.pages.flatMap((page) => page.ids) ?? []

  const keepVisit = useEffectEvent(() => storeVisit(post.id, newestOf([post.id, ...ids()])))
  useEffect(() => {
    let end = () => {}
    const stop = whenVisible(() => {
      keepVisit()
      const unfollow = onHide(() => keepVisit())
      end = () => {
        unfollow()
        keepVisit()
      }
    })
    return () => {
      stop()
      end()
    }
  }, [])

  useEffect(() => {
    if (seen === undefined) return
    const isNew: IsFresh = ({ id, owner }) => BigInt(id) > BigInt(seen) && owner.id !== userId
    setFresh(() => isNew)
    return () => setFresh(() => undefined)
  }, [seen, userId, setFresh])

  const isLong = post.actions.replies_count > PAGE_SIZE
  const hasFresh = ids().some((id) => {
    const reply = readCachedPost(id)
    return reply && isFresh?.(reply)
  })
  if (!isLong || !hasFresh || seen === undefined || isOldestFirst(source.start ?? '')) return null
  const to = withCursor(postPath(post.id), oppositeCursor(cursorAt(seen)))
  return (
    <a className={classes('act', className)} href={to}>
      К новым
    </a>
  )
}

/** Returns the newest reply seen before this visit; «К новым» opens the list after it. */
function useSeenBefore(postId: string, start: string): string | undefined {
  const key = `${useEntry().key} ${postId}`
  if (!seenBefore.has(key)) seenBefore.set(key, readVisits().get(postId))
  const isAfterSeen = isOldestFirst(start) && start !== FROM_OLDEST
  return isAfterSeen ? start.replace(/\D/g, '') : seenBefore.get(key)
}

function readVisits(): Map<string, string> {
  const stored = localStore.readJson(VISITS_KEY, arrayOf(isString)) ?? []
  const visits = stored.filter((visit) => /^\d+ \d+$/.test(visit))
  return new Map(visits.map((visit) => visit.split(' ') as [postId: string, seen: string]))
}

function storeVisit(postId: string, newest: string): void {
  const visits = readVisits()
  const seen = newestOf([newest, visits.get(postId) ?? '0'])
  visits.delete(postId)
  const kept = [[postId, seen], ...visits].slice(0, VISITS_MAX).map((visit) => visit.join(' '))
  localStore.writeJson(VISITS_KEY, kept)
}

function newestOf(ids: readonly string[]): string {
  return ids.reduce((newest, id) => (BigInt(id) > BigInt(newest) ? id : newest))
}
