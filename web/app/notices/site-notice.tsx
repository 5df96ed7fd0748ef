import type { ReactNode } from 'react'
import { INVITE_ONLY } from '../../../contract/pages.ts'
import { usePage } from '../../history/entry.tsx'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { useSiteState } from '../../session/site-state.ts'
import { useViewer } from '../../session/viewer.ts'
import { classes } from '../../ui/classes.ts'
import { Lazy } from '../../ui/states/lazy.tsx'
import styles from './notices.module.css'

const restriction = createLazyChunk(() => import('./restriction-notice.tsx'), 'RestrictionNotice')

/** Shows a block, or the reason why the session ended, or else a notice for everybody. */
export function SiteNotice() {
  const viewer = useViewer()
  const isRestricted =
    viewer.state === 'authorized' ? viewer.user.block : 'because' in viewer && viewer.because
  const notice = <ClosedNotice />
  return isRestricted ? <Lazy chunk={restriction} props={{ children: notice }} /> : notice
}

/** Shows closed registrations only to visitors, and closed writing to everybody. */
function ClosedNotice() {
  const { registrationsClosed, isInviteOnly, writingClosed } = useSiteState()
  const { state } = useViewer()
  const page = usePage()
  if (writingClosed !== null) return <Notice>Писать пока нельзя: {writingClosed}</Notice>
  // A visitor with an invitation can register all the same.
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
    <p
      className={classes('soft band', styles.notice, isForVisitors && styles.visitors)}
      role="status"
    >
      {children}
    </p>
  )
}
