import { useQuery } from '@tanstack/react-query'
import { Bell as BellShape } from 'lucide'
import { useEffect } from 'react'
import { UNREAD_MAX } from '../../contract/constants.ts'
import { PATHS } from '../../contract/pages.ts'
import { usePage } from '../history/entry.tsx'
import { onAnswered } from '../posts/cache/news-stream.ts'
import { iconButtonClass } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import { receivedQuery, refreshReceived } from './answers.queries.ts'
import { showOnIcon } from './app-badge.ts'
import styles from './bell.module.css'

export function Bell({ userId }: { userId: string }) {
  useEffect(() => onAnswered(userId, () => void refreshReceived()), [userId])
  const unread = useQuery(receivedQuery).data?.unread ?? 0
  useEffect(() => showOnIcon(unread), [unread])
  const isCurrent = usePage()?.name === 'received'
  return (
    <a
      href={PATHS.received}
      className={classes(iconButtonClass, styles.bell)}
      aria-label={unread > 0 ? `Ответы мне, новых: ${countOf(unread)}` : 'Ответы мне'}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <Icon shape={BellShape} size={22} />
      {unread > 0 && <span className={classes('dot', styles.dot)} />}
    </a>
  )
}

function countOf(unread: number): string {
  return unread < UNREAD_MAX ? String(unread) : `${UNREAD_MAX - 1}+`
}
