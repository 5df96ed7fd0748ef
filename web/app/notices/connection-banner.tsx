import { useEffect, useState } from 'react'
import { isStale } from '../../http/server-clock.ts'
import { useAtom } from '../../platform/atom.ts'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { useOnline } from '../../platform/online.ts'
import { useFreshPosts } from '../../posts/cache/posts.queries.ts'
import { useHasSubmitted } from '../../posts/compose/stored-texts.ts'
import { liveRegion } from '../../ui/live-region.ts'
import { Notice } from './notice.tsx'

/** The chunk is preloaded, because it is needed most without a network. */
export const outboxRow = createLazyChunk(() => import('./outbox-row.tsx'), 'OutboxRow')

/** Keeps its element mounted, because screen readers announce only changes in existing elements. */
export function ConnectionBanner() {
  const online = useOnline()
  const stale = useAtom(isStale, false)
  const hasSubmitted = useHasSubmitted()
  const [, setIsLoaded] = useState(false)
  const OutboxRow = hasSubmitted && outboxRow.content()
  useFreshPosts(stale)
  // biome-ignore lint/correctness/useExhaustiveDependencies: tries again once the network is back
  useEffect(() => {
    if (hasSubmitted) void outboxRow.preload().then(() => setIsLoaded(!!outboxRow.content()))
  }, [hasSubmitted, online])
  const notice = (stale || !online) && (
    <Notice>
      {online
        ? 'Показана сохранённая версия'
        : 'Нет связи. Читать и писать можно: отправим позже. Для отметок и остального нужна связь'}
    </Notice>
  )
  const shown = OutboxRow ? <OutboxRow>{notice}</OutboxRow> : notice
  return <div {...liveRegion(Boolean(shown))}>{shown}</div>
}
