import type { CurrentUser } from '../../contract/account.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { EmailEntry } from '../codes/email-entry.tsx'
import { savedOperation } from '../codes/saved-operation.ts'
import { useMailedCode } from '../codes/use-mailed-code.ts'
import { SessionEnded, useTyped } from '../session/session-ended.tsx'
import { changeViewer } from '../session/viewer.ts'
import styles from '../ui/form/form.module.css'
import { toast } from '../ui/overlay/toaster.tsx'
import { startEmailChange, verifyEmailChange } from './account.queries.ts'
import { useReturnToSettings } from './account-settings.tsx'

export function EmailForm({ user }: { user: CurrentUser }) {
  const leave = useReturnToSettings()
  const mailed = useMailedCode({
    saved: savedOperation('email-change', user.id),
    start: ({ email, clientToken }) => startEmailChange({ email, clientToken }),
    verify: verifyEmailChange,
    onVerified: (changed) => {
      changeViewer(changed)
      toast({ text: 'Почта изменена' })
      leave()
    },
  })
  const field = useTyped('new email', mailed.email)
  const title = <h2 className="heading">Изменить электронную почту</h2>

  if (!mailed.entry) {
    return (
      <EmailEntry
        mailed={mailed}
        field={field}
        className={styles.form}
        tip="Пришлём код на новый адрес. Пока не введёте код, останется прежний"
        own={user.email}
        onSubmit={(email) => mailed.start({ email })}
      >
        {title}
        <SessionEnded text={field[0]} />
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
