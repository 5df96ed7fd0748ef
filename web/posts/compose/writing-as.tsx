import type { MouseEvent } from 'react'
import { useNavigate } from 'react-router'
import { isGeneratedName } from '../../../contract/account-rules.ts'
import { PATHS } from '../../../contract/pages.ts'
import { whenDialogIsClosed } from '../../viewer/dialogs.ts'
import { useViewer } from '../../viewer/viewer.ts'
import styles from './post-form.module.css'

/** Leads a viewer who has not chosen a name to the choice. The text waits as a draft. */
export function WritingAs({ onClose }: { onClose: () => void }) {
  const viewer = useViewer()
  const navigate = useNavigate()
  if (viewer.state !== 'authorized' || !isGeneratedName(viewer.user.username)) return null

  function leave(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onClose()
    whenDialogIsClosed(() => void navigate(PATHS.username))
  }

  return (
    <p className={styles.note}>
      Пишете как <b>{viewer.user.username}</b> ·{' '}
      <a className={styles.rename} href={PATHS.username} onClick={leave}>
        сменить
      </a>
    </p>
  )
}
