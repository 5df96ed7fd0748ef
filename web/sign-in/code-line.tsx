import { emailInLetters } from '../format/email-in-letters.ts'
import { openDialog } from '../history/history.ts'
import { useAtom } from '../platform/atom.ts'
import { useViewer } from '../session/viewer.ts'
import styles from './code-line.module.css'
import { waitingEmail } from './sign-in-operation.ts'

/** Leads back to the step of the mailed code, which may have been closed, even with its tab. */
export function CodeLine() {
  const email = useAtom(waitingEmail)
  const { state } = useViewer()
  if (email === null || state !== 'signed-out') return null
  return (
    <button type="button" className={styles.line} onClick={() => openDialog({ name: 'sign-in' })}>
      <span>
        Мы отправили код на {hint(emailInLetters(email))}: <span className="act">введите его</span>
      </span>
    </button>
  )
}

/** Hides most of the address from other people who see the screen. */
function hint(email: string): string {
  const [first = ''] = email
  return `${first}…${email.slice(email.lastIndexOf('@'))}`
}
