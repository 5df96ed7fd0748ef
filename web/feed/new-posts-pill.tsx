import { ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../api/error-message.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { useToast } from '../ui/toaster.tsx'
import styles from './new-posts-pill.module.css'
import { useNewestPosts } from './use-newest-posts.ts'

/** Says that there are new posts without moving what is being read; a tap shows them and scrolls to the top. */
export function NewPostsPill({ list }: { list: PostListView }) {
  const toast = useToast()
  const [pending, setPending] = useState(false)
  const hasNewer = list.hasNewer(useNewestPosts())

  async function show(): Promise<void> {
    setPending(true)
    try {
      await list.refresh()
      scrollTo(0, 0)
      // The button disappears now, and the focus would be lost with it.
      document.getElementById('content')?.focus({ preventScroll: true })
    } catch (error) {
      toast({ text: errorMessage(error) })
    } finally {
      setPending(false)
    }
  }

  return (
    <div className={styles.place} role="status">
      {hasNewer && (
        <button
          type="button"
          className={styles.pill}
          aria-disabled={pending || undefined}
          onClick={() => {
            if (!pending) void show()
          }}
        >
          <ArrowUp size={16} strokeWidth={2.25} aria-hidden="true" />
          Показать новые записи
        </button>
      )}
    </div>
  )
}
