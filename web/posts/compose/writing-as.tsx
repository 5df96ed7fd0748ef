import { isGeneratedName } from '../../../contract/account-rules.ts'
import { PATHS } from '../../../contract/pages.ts'
import { useUser } from '../../session/viewer.ts'
import { classes } from '../../ui/classes.ts'
import styles from './post-form.module.css'

/** Links a viewer with a generated name to the choice of a name. The text waits as a draft. */
export function WritingAs() {
  const user = useUser()
  if (!user || !isGeneratedName(user.username)) return null
  return (
    <p className={classes('soft', styles.note)}>
      Пишете как <b>{user.username}</b> ·{' '}
      <a className={styles.rename} href={PATHS.username}>
        сменить
      </a>
    </p>
  )
}
