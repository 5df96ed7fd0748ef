import { ArrowUp } from 'lucide'
import { useEffect, useRef, useState } from 'react'
import { focusContent } from '../history/focus-content.ts'
import { useAction } from '../http/use-action.tsx'
import type { ListSource, Newer, PostListView } from '../posts/cache/use-post-list.ts'
import { Icon } from '../ui/icon.tsx'
import styles from './new-posts-pill.module.css'
import { useHasNewer } from './use-has-newer.ts'
import type { Place } from './use-scroll-anchor.ts'

type NewPostsPillProps = {
  list: PostListView
  source: ListSource
  newer: Newer
  /** Whether the list was read some time ago. */
  isOld: boolean
  place: Place
}

/**
 * New posts must not move what is being read, so they wait for a tap, which puts the next of them
 * above it. A second tap leads to the newest.
 */
export function NewPostsPill({ list, source, newer, isOld, place }: NewPostsPillProps) {
  const [hasNewer, setHasNewer] = useHasNewer(list, source, isOld)
  const top = useRef<HTMLDivElement>(null)
  const [isShown, setShown] = useState(false)
  const leadsUp = isShown && !hasNewer
  const act = useAction({ mutationFn: leadsUp ? goUp : showNewer, errors: 'toast' })

  async function showNewer(): Promise<void> {
    place.keep()
    // Before the list changes, so that the button stays, and the focus with it.
    setShown(true)
    const hasShown = await list.showNewer()
    setHasNewer(false)
    setShown(hasShown)
    if (!hasShown) focusContent()
  }

  async function goUp(): Promise<void> {
    place.leave()
    if (!list.isFromTop) await list.restart()
    top.current?.scrollIntoView()
    focusContent()
  }

  // A reader who has come to the top by another way needs no button.
  useEffect(() => {
    if (!leadsUp || !list.isFromTop || !top.current) return
    const observer = new IntersectionObserver((entries) => {
      if ((entries.at(-1)?.boundingClientRect.bottom ?? 0) >= 0) setShown(false)
    })
    observer.observe(top.current)
    return () => observer.disconnect()
  }, [leadsUp, list.isFromTop])

  return (
    <>
      <div ref={top} className={styles.top} />
      <div className={styles.place} role="status">
        {(hasNewer || leadsUp) && (
          <button
            type="button"
            className={styles.pill}
            aria-disabled={act.isPending || undefined}
            onClick={() => act.mutate()}
          >
            <Icon shape={ArrowUp} size={16} />
            {leadsUp ? newer.toTop : newer.show}
          </button>
        )}
      </div>
    </>
  )
}
