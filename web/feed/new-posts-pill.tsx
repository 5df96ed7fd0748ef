import { ArrowUp } from 'lucide'
import { useEffect, useRef, useState } from 'react'
import { useAction } from '../http/use-action.tsx'
import { focusContent } from '../platform/focus-content.ts'
import type { ListSource, Newer, PostListView } from '../posts/cache/use-post-list.ts'
import { Icon } from '../ui/icon.tsx'
import styles from './new-posts-pill.module.css'
import { useToldIds } from './use-told-ids.ts'

type NewPostsPillProps = {
  list: PostListView
  source: ListSource
  newer: Newer
  /** Whether the list was read some time ago. */
  isOld: boolean
  keepAnchor: () => void
}

/**
 * New posts must not move what is being read, so they wait for a tap, which puts them above it. A
 * second tap leads there.
 */
export function NewPostsPill({ list, source, newer, isOld, keepAnchor }: NewPostsPillProps) {
  const { told, forget } = useToldIds(list, source, isOld)
  const hasNewer = told.some(list.hasNewer)
  const top = useRef<HTMLDivElement>(null)
  const [isShown, setShown] = useState(false)
  const leadsUp = isShown && !hasNewer
  const show = useAction({ mutationFn: showNewer, errors: 'toast' })

  async function showNewer(): Promise<void> {
    const asked = told
    const hasShown = await list.showNewer(() => {
      keepAnchor()
      // Before the list changes, so that the button stays, and the focus with it.
      setShown(true)
    })
    forget(asked)
    setShown(hasShown)
    if (!hasShown) focusContent()
  }

  // Who has come to the top by another way needs no button.
  useEffect(() => {
    if (!leadsUp || !top.current) return
    const observer = new IntersectionObserver((entries) => {
      if ((entries.at(-1)?.boundingClientRect.bottom ?? 0) >= 0) setShown(false)
    })
    observer.observe(top.current)
    return () => observer.disconnect()
  }, [leadsUp])

  function goUp(): void {
    top.current?.scrollIntoView()
    focusContent()
  }

  return (
    <>
      <div ref={top} className={styles.top} />
      <div className={styles.place} role="status">
        {(hasNewer || leadsUp) && (
          <button
            type="button"
            className={styles.pill}
            aria-disabled={show.isPending || undefined}
            onClick={() => (leadsUp ? goUp() : show.mutate())}
          >
            <Icon shape={ArrowUp} size={16} />
            {leadsUp ? newer.toTop : newer.show}
          </button>
        )}
      </div>
    </>
  )
}
