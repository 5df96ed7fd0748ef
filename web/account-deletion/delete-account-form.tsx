import type { CurrentUser } from '../../contract/account.ts'
import { RETURN_DAYS } from '../../contract/constants.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import { savedOperation } from '../codes/saved-operation.ts'
import { useMailedCode } from '../codes/use-mailed-code.ts'
import { formatDate } from '../format/labels.ts'
import { Button } from '../ui/button.tsx'
import styles from '../ui/form/form.module.css'
import { toast } from '../ui/overlay/toaster.tsx'
import { FormError } from '../ui/states/errors.tsx'
import { startDeletion, verifyDeletion } from './account-deletion.queries.ts'

type Props = { user: CurrentUser; onDeleted: () => void; onCancel: () => void }

export function DeleteAccountForm({ user, onDeleted, onCancel }: Props) {
  const mailed = useMailedCode({
    saved: savedOperation('deletion', user.id),
    start: startDeletion,
    verify: verifyDeletion,
    onVerified: ({ erasedAt }) => {
      onDeleted()
      toast({ text: `Аккаунт удалён. Вернуть его можно до ${formatDate(erasedAt)}` })
    },
  })
  if (mailed.entry) {
    return (
      <div className={styles.form}>
        <h2 className="heading">Удалить аккаунт</h2>
        <CodeEntry {...mailed.entry} note="Как только вы его введёте, аккаунт будет удалён" />
      </div>
    )
  }
  return (
    <div className={styles.form}>
      <h2 className="heading">Удалить аккаунт?</h2>
      <ul className={styles.facts}>
        <li>
          Записи, ответы и отметки «Нравится» сразу исчезнут с сайта, а все сессии завершатся.
        </li>
        <li>
          {RETURN_DAYS} дней аккаунт можно вернуть целиком: достаточно войти с той же почтой. Потом
          он будет стёрт навсегда.
        </li>
        <li>Чужие ответы на ваши записи останутся. Ваше имя больше никто не займёт.</li>
      </ul>
      <FormError>{mailed.refusal.message}</FormError>
      <div className="wrap">
        <Button
          variant="danger"
          pending={mailed.isPending}
          disabled={mailed.refusal.secondsLeft > 0}
          onClick={() => mailed.start({ email: user.email })}
        >
          Получить код
        </Button>
        <Button variant="plain" onClick={onCancel}>
          Не удалять
        </Button>
      </div>
    </div>
  )
}
