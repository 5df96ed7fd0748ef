import { useQuery, useQueryClient } from '@tanstack/react-query'
import { History, type IconNode, WifiOff } from 'lucide'
import { useEffect, useLayoutEffect } from 'react'
import { isStale } from '../../http/staleness.ts'
import { useAtom } from '../../platform/atom.ts'
import { useOnline } from '../../platform/online.ts'
import { nextVersion, putPosts } from '../../posts/cache/post-cache.ts'
import { wallSource } from '../../posts/cache/post-sources.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './app-shell.module.css'

type Notice = { icon: IconNode; text: string }

const OFFLINE: Notice = { icon: WifiOff, text: 'Нет связи. Читать можно, отправить — позже' }
const STALE: Notice = { icon: History, text: 'Показана сохранённая версия' }

const ASK_AGAIN_MS = 5000

/** Its element stays mounted, because only then a change of its content is announced. */
export function ConnectionBanner() {
  const online = useOnline()
  const stale = useAtom(isStale, false)
  useFreshPosts(stale)
  const notice = online ? stale && STALE : OFFLINE
  const isShown = notice !== false
  // Toasts and the end of the page leave room for the banner.
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-notice', isShown)
  }, [isShown])
  return (
    <div role="status">
      {notice && (
        <div className={styles.banner}>
          <Icon shape={notice.icon} size={16} />
          {notice.text}
        </div>
      )}
    </div>
  )
}

/** Asks for the wall until it comes fresh, and then reads again what the page watches. */
function useFreshPosts(stale: boolean): void {
  const client = useQueryClient()
  useQuery({
    queryKey: ['fresh-version'],
    queryFn: async ({ signal }) => {
      const version = nextVersion()
      const { posts } = await wallSource().read('', signal)
      putPosts(client, posts, version)
      return true
    },
    enabled: stale,
    retry: false,
    staleTime: 0,
    refetchInterval: ASK_AGAIN_MS,
  })
  useEffect(() => {
    if (!stale) return
    return () => {
      for (const key of ['read-post', 'newest-posts']) {
        void client.invalidateQueries({ queryKey: [key] })
      }
    }
  }, [stale, client])
}
