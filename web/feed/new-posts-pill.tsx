import { useQuery } from '@tanstack/react-query'
import { ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'react-router'
import { errorMessage } from '../api/error-message.ts'
import { wallSource } from '../posts/cache/post-sources.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { useToast } from '../ui/toaster.tsx'
import styles from './new-posts-pill.module.css'

const EVERY_MS = 20_000
const NONE: readonly string[] = []

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

/**
 * The ids of the first page of the wall, read every 20 s while the page is visible and online; empty before the first
 * read. It is the same call as the wall's own, so the server answers it from its cache.
 */
function useNewestPosts(): readonly string[] {
  const visit = useLocation().key
  const { data } = useQuery({
    queryKey: ['newest-posts', visit],
    queryFn: async ({ signal }) => {
      const { posts } = await wallSource.read(null, signal)
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
