import { memo, startTransition, useEffect, useState } from 'react'
import { useEntry } from '../history/entry.tsx'
import { findAnchor } from '../history/scroll-anchors.ts'
import { whenIdle } from '../platform/when-idle.ts'
import { usePost } from '../posts/cache/post-cache.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import styles from './feed-groups.module.css'
import { PostActions, PostMenuButton } from './post-controls.tsx'

/** A list of a thousand posts is whole within some seconds. */
const IDLE_MS = 50

type Groups = readonly (readonly string[])[]
type FeedGroupsProps = {
  groups: Groups
  /** How many posts stand above the groups; if that is not known, no post states its position. */
  before: number | null
  setSize: number
  withoutQuotes: boolean
}

/**
 * The browser lays out only the groups near the visible part. A person who returns to a long list
 * first sees the posts at which they left it; the other groups follow when the page is idle.
 */
export function FeedGroups({ groups, before, setSize, withoutQuotes }: FeedGroupsProps) {
  const keys = useGroupKeys(groups)
  const isRendered = useRenderedGroups(groups, keys)
  let last = before ?? 0
  return groups.map((ids, index) => {
    const first = last + 1
    last += ids.length
    return (
      <div key={keys[index]} className={styles.group} data-empty={!isRendered(index) || undefined}>
        {isRendered(index) &&
          ids.map((id, at) => (
            <FeedPost
              key={id}
              id={id}
              position={before === null ? undefined : first + at}
              setSize={before === null ? undefined : setSize}
              withoutQuote={withoutQuotes}
            />
          ))}
      </div>
    )
  })
}

/** A group has the same key as long as it has one of its posts, whichever of them is first. */
function useGroupKeys(groups: Groups): number[] {
  const [known] = useState(() => ({ keys: new Map<string, number>(), next: 0 }))
  const used = new Set<number>()
  return groups.map((ids) => {
    const own = ids.map((id) => known.keys.get(id)).find((it) => it !== undefined && !used.has(it))
    const key = own ?? known.next++
    used.add(key)
    for (const id of ids) known.keys.set(id, key)
    return key
  })
}

/** At first only the groups around the anchor are rendered, but later ones at once. */
function useRenderedGroups(groups: Groups, keys: readonly number[]): (index: number) => boolean {
  const entryKey = useEntry().key
  const [first] = useState(() => ({
    postId: findAnchor(entryKey)?.postId,
    notYetRendered: new Set(keys),
  }))
  const [radius, setRadius] = useState(1)
  const anchorGroup = groups.findIndex((ids) => ids.some((id) => id === first.postId))
  const middle = Math.max(0, anchorGroup)
  const isRendered = (index: number) =>
    Math.abs(index - middle) <= radius || !first.notYetRendered.has(keys[index] ?? -1)
  const isWhole = groups.every((_, index) => isRendered(index))

  useEffect(() => {
    if (isWhole) return
    return whenIdle(() => startTransition(() => setRadius(radius + 1)), IDLE_MS)
  }, [isWhole, radius])

  return isRendered
}

type FeedPostProps = {
  id: string
  position: number | undefined
  setSize: number | undefined
  withoutQuote: boolean
}

const FeedPost = memo(function FeedPost({ id, ...props }: FeedPostProps) {
  const post = usePost(id)
  if (!post) return null
  return (
    <PostCard {...props} post={post} menu={<PostMenuButton post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})
