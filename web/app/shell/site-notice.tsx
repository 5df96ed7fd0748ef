import type { ReactNode } from 'react'
import { useLocation } from 'react-router'
import { PATHS } from '../../../contract/pages.ts'
import { useSiteState } from '../../browser/site-state.ts'
import { Link } from '../../ui/link.tsx'
import { useBlock } from '../../viewer/block.ts'
import { useViewer } from '../../viewer/viewer.ts'
import styles from './site-notice.module.css'

/** Says below the header what is closed to the viewer or to everybody, and why. That nobody can register concerns visitors alone. */
export function SiteNotice() {
  const { registrationsClosed, writingClosed } = useSiteState()
  const { state } = useViewer()
  const { pathname } = useLocation()
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
  const isInvited = pathname === PATHS.invitation
  if (registrationsClosed === null || state !== 'signed-out' || isInvited) return null
  return <Notice>Регистрация закрыта: {registrationsClosed}</Notice>
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <p className={styles.notice} role="status">
      {children}
    </p>
  )
}
