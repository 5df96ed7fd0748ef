import { useUnsentText } from '../../posts/compose/drafts.ts'
import { useViewer } from '../../viewer/viewer.ts'
import styles from './draft-mark.module.css'

/** A dot on the button for a new post while the viewer has left one unsent. */
export function DraftMark() {
  const viewer = useViewer()
  return viewer.state === 'authorized' && <OwnDraftMark key={viewer.user.id} />
}

function OwnDraftMark() {
  if (useUnsentText('new') === null) return null
  return (
    <span className={styles.mark}>
      <span className="visually-hidden">есть черновик</span>
    </span>
  )
}
