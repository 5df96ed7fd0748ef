import { ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../api/error-message.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { useToast } from '../ui/toaster.tsx'
import styles from './new-posts-pill.module.css'
import { useNewestPosts } from './use-newest-posts.ts'

/** Tells of new posts without moving what is being read; a tap shows them and goes to the top. */
export function NewPostsPill({ list }: { list: PostListView }) {
  const toast = useToast()
  const [pending, setPending] = useState(false)
  const fresh = list.isBehind(useNewestPosts())

  async function show(): Promise<void> {
    setPending(true)
    try {
      await list.renew()
      scrollTo(0, 0)
      // The button is about to go: the focus would be lost with it.
      document.getElementById('content')?.focus({ preventScroll: true })
    } catch (error) {
      toast({ text: errorMessage(error) })
    } finally {
      setPending(false)
    }
  }

  return (
    <div className={styles.place} role="status">
      {fresh && (
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
