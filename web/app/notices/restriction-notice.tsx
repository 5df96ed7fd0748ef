import type { ReactNode } from 'react'
import { PATHS } from '../../../contract/pages.ts'
import { useBlock } from '../../posts/compose/block.ts'
import { useViewer } from '../../session/viewer.ts'
import { classes } from '../../ui/classes.ts'
import noticeStyles from './notices.module.css'
import styles from './restriction-notice.module.css'

/** Shows a blocked person what the block means and why, also after it has signed them out. */
export function RestrictionNotice({ children }: { children: ReactNode }) {
  const block = useBlock()
  const viewer = useViewer()
  const because = viewer.state === 'signed-out' ? viewer.because?.message : undefined
  const [, ended, endedFor] = /^(.+)\. (Причина: .+)$/s.exec(because ?? '') ?? []
  const what = block?.until ?? ended
  if (what === undefined) return children
  return (
    <details className={classes('soft band', noticeStyles.notice, styles.restriction)}>
      <summary>
        {what} · <span className={styles.why}>Почему</span>
      </summary>
      {block?.reason ?? `${endedFor}.`} Спросить можно{' '}
      <a href={PATHS.contacts}>у тех, кто ведёт эту стену</a>.
    </details>
  )
}
