import type { ReactNode } from 'react'
import { INVITE_ONLY, PATHS } from '../../../contract/pages.ts'
import { usePage } from '../../history/entry.tsx'
import { Link } from '../../history/link.tsx'
import { useBlock } from '../../posts/compose/block.ts'
import { useViewer } from '../../session/viewer.ts'
import { useSiteState } from '../../sign-in/site-state.ts'
import { classes } from '../../ui/classes.ts'
import styles from './site-notice.module.css'

/** Closed registrations concern visitors alone; closed writing concerns everybody. */
export function SiteNotice() {
  const { registrationsClosed, isInviteOnly, writingClosed } = useSiteState()
  const { state } = useViewer()
  const page = usePage()
  const block = useBlock()
  if (block) {
    return (
      <details className={styles.notice}>
        <summary>
          {block.until} · <span className={styles.why}>Почему</span>
        </summary>
        {block.reason} Спросить можно <Link to={PATHS.contacts}>у тех, кто ведёт эту стену</Link>.
      </details>
    )
  }
  if (writingClosed !== null) return <Notice>Писать пока нельзя: {writingClosed}</Notice>
  // Whoever has opened an invitation can register all the same.
  const isInvited = page?.name === 'invitation'
  if (state !== 'signed-out' || isInvited) return null
  if (registrationsClosed !== null) {
    return <Notice isForVisitors>Регистрация закрыта: {registrationsClosed}</Notice>
  }
  return isInviteOnly ? <Notice isForVisitors>{INVITE_ONLY}</Notice> : null
}

type NoticeProps = { isForVisitors?: boolean; children: ReactNode }

function Notice({ isForVisitors = false, children }: NoticeProps) {
  return (
    <p className={classes(styles.notice, isForVisitors && styles.visitors)} role="status">
      {children}
    </p>
  )
}
