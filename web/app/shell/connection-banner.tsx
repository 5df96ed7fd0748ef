import { History, type IconNode, WifiOff } from 'lucide'
import { useLayoutEffect } from 'react'
import { isStale } from '../../http/staleness.ts'
import { useAtom } from '../../platform/atom.ts'
import { useOnline } from '../../platform/online.ts'
import { useFreshPosts } from '../../posts/cache/posts.queries.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './app-shell.module.css'

type Notice = { icon: IconNode; text: string }

const OFFLINE: Notice = { icon: WifiOff, text: 'Нет связи. Читать можно, отправить — позже' }
const STALE: Notice = { icon: History, text: 'Показана сохранённая версия' }

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
