import { ArrowUp } from 'lucide'
import { useAction } from '../http/use-action.tsx'
import { useNewestPosts } from '../posts/cache/posts.queries.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { Icon } from '../ui/icon.tsx'
import styles from './new-posts-pill.module.css'

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
