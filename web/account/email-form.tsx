import type { CurrentUser } from '../../contract/account.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { EmailEntry } from '../codes/email-entry.tsx'
import { savedOperation } from '../codes/saved-operation.ts'
import { useMailedCode } from '../codes/use-mailed-code.ts'
import { changeViewer } from '../session/viewer.ts'
import styles from '../ui/form-page.module.css'
import { toast } from '../ui/toaster.tsx'
import { startEmailChange, verifyEmailChange } from './account.queries.ts'

type EmailFormProps = { user: CurrentUser; onSaved: () => void }

export function EmailForm({ user, onSaved }: EmailFormProps) {
  const mailed = useMailedCode({
    saved: savedOperation('email-change', user.id),
    start: ({ email, clientToken }) => startEmailChange({ email, clientToken }),
    verify: verifyEmailChange,
    onVerified: (changed) => {
      changeViewer(changed)
      toast({ text: 'Почта изменена' })
      onSaved()
    },
  })
  const title = <h2 className="heading">Изменить электронную почту</h2>

  if (!mailed.entry) {
    return (
      <EmailEntry
        mailed={mailed}
        className={styles.form}
        tip="Пришлём код на новый адрес. Пока не введёте код, останется прежний"
        own={user.email}
        onSubmit={(email) => mailed.start({ email })}
      >
        {title}
      </EmailEntry>
    )
  }
  return (
    <div className={styles.form}>
      {title}
      <CodeEntry {...mailed.entry} />
    </div>
  )
}
