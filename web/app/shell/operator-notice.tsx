import { hideNotice } from '../../platform/hide-notice.ts'
import { localStore } from '../../platform/storage.ts'
import { NOTICE_SEEN_KEY } from '../../platform/stored-keys.ts'
import { useSiteState } from '../../session/site-state.ts'
import { Button } from '../../ui/button.tsx'
import styles from './operator-notice.module.css'

/** The operator's line for everybody, which each reader can put away in this browser. */
export function OperatorNotice() {
  const { notice } = useSiteState()
  if (!notice) return null
  const { id, text } = notice
  return (
    <section className={styles.notice} aria-label="Объявление" data-notice-id={id}>
      <p role="status">{text}</p>
      <Button variant="plain" size="s" onClick={() => putAway(id)}>
        Понятно
      </Button>
    </section>
  )
}

function putAway(id: string): void {
  localStore.write(NOTICE_SEEN_KEY, id)
  hideNotice(id)
  // The button that had the focus is gone.
  document.getElementById('content')?.focus({ preventScroll: true })
}
