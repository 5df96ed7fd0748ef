import { useQuery } from '@tanstack/react-query'
import { ArrowUp } from 'lucide'
import { useEntry } from '../history/entry.tsx'
import { useAction } from '../http/use-action.tsx'
import { wallSource } from '../posts/cache/post-sources.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { Icon } from '../ui/icon.tsx'
import styles from './new-posts-pill.module.css'

const EVERY_MS = 20_000
const NONE: readonly string[] = []

/** New posts must not move what is being read, so they wait for a tap. */
export function NewPostsPill({ list }: { list: PostListView }) {
  const hasNewer = list.hasNewer(useNewestPosts())
  const refresh = useAction({
    mutationFn: list.refresh,
    onSuccess: () => {
      scrollTo(0, 0)
      // The button disappears now, and the focus would be lost with it.
      document.getElementById('content')?.focus({ preventScroll: true })
    },
    errors: 'toast',
  })

  return (
    <div className={styles.place} role="status">
      {hasNewer && (
        <button
          type="button"
          className={styles.pill}
          aria-disabled={refresh.isPending || undefined}
          onClick={() => refresh.mutate()}
        >
          <Icon shape={ArrowUp} size={16} />
          Показать новые записи
        </button>
      )}
    </div>
  )
}

/**
 * Reads the first page of the wall every 20 s while the page is visible and online. It is the same
 * call as the wall's own, so the server answers it from its cache.
 */
function useNewestPosts(): readonly string[] {
  const entryKey = useEntry().key
  const { data } = useQuery({
    queryKey: ['newest-posts', entryKey],
    queryFn: async ({ signal }) => {
      const { posts } = await wallSource().read('', signal)
      return posts.map(({ id }) => id)
    },
    initialData: NONE,
    networkMode: 'online',
    retry: false,
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
  })
  return data
}
