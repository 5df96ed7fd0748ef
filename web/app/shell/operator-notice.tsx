import { focusContent } from '../../history/focus-content.ts'
import { localStore } from '../../platform/storage.ts'
import { NOTICE_SEEN_KEY } from '../../session/stored-keys.ts'
import { useSiteState } from '../../sign-in/site-state.ts'
import { hideNotice } from '../../theme/page-looks.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './strip.module.css'

/** The operator's notice to all readers. A reader can hide it in this browser. */
export function OperatorNotice() {
  const { notice } = useSiteState()
  if (!notice) return null
  const { id, text } = notice
  return (
    <section
      className={classes('line band', styles.strip, styles.notice)}
      aria-label="Объявление"
      data-notice-id={id}
    >
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
  focusContent()
}
