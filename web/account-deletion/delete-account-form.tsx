import { useId, useState } from 'react'
import { RETURN_DAYS } from '../../contract/constants.ts'
import { CodeEntry } from '../codes/code-entry.tsx'
import type { MailedCode } from '../codes/mailed-code.ts'
import { countingWrongCodes } from '../codes/wrong-codes.ts'
import { exactDay } from '../format/time.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { useSingleMutation } from '../http/use-single-mutation.ts'
import { clientToken } from '../session/device.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/errors.tsx'
import page from '../ui/form-page.module.css'
import { useToast } from '../ui/toaster.tsx'
import styles from './delete-account-form.module.css'

type Props = {
  email: string
  onDeleted: () => unknown
  onCancel: () => void
}

export function DeleteAccountForm({ email, onDeleted, onCancel }: Props) {
  const [deletion, setDeletion] = useState<MailedCode | null>(null)
  if (!deletion) return <ExplainStep email={email} onStarted={setDeletion} onCancel={onCancel} />
  return (
    <CodeStep
      deletion={deletion}
      onRestarted={setDeletion}
      onDeleted={onDeleted}
      onReturn={() => setDeletion(null)}
    />
  )
}

type ExplainStepProps = {
  email: string
  onStarted: (deletion: MailedCode) => void
  onCancel: () => void
}

function ExplainStep({ email, onStarted, onCancel }: ExplainStepProps) {
  const start = useSingleMutation({ mutationFn: () => startDeletion(email), onSuccess: onStarted })
  return (
    <div className={page.form}>
      <h2 className={page.title}>Удалить аккаунт?</h2>
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
      <FormError>{start.error && errorMessage(start.error)}</FormError>
      <div className={page.actions}>
        <Button variant="danger" pending={start.isPending} onClick={() => start.mutate()}>
          Получить код
        </Button>
        <Button variant="plain" onClick={onCancel}>
          Не удалять
        </Button>
      </div>
    </div>
  )
}

type CodeStepProps = {
  deletion: MailedCode
  onRestarted: (deletion: MailedCode) => void
  onDeleted: () => unknown
  onReturn: () => void
}

function CodeStep({ deletion, onRestarted, onDeleted, onReturn }: CodeStepProps) {
  const [code, setCode] = useState('')
  const tipId = useId()
  const toast = useToast()
  const onError = () => setCode('')
  const verify = useSingleMutation({
    mutationFn: (typed: string) =>
      countingWrongCodes(deletion, () => verifyDeletion(deletion.id, typed)),
    onSuccess: async ({ erasedAt }) => {
      await onDeleted()
      toast({ text: `Аккаунт удалён. Вернуть его можно до ${exactDay(erasedAt)}` })
    },
    onError,
  })
  const resend = useSingleMutation({
    mutationFn: () => startDeletion(deletion.email),
    onSuccess: onRestarted,
    onError,
  })
  const error = verify.error ?? resend.error

  return (
    <div className={page.form}>
      <h2 className={page.title}>Удалить аккаунт</h2>
      <p className={page.tip} id={tipId}>
        Отправили код на <b>{deletion.email}</b>. Как только вы его введёте, аккаунт будет удалён
      </p>
      <CodeEntry
        operation={deletion}
        code={code}
        busy={verify.isPending || resend.isPending}
        isResending={resend.isPending}
        error={error && { code: codeOf(error), message: errorMessage(error) }}
        describedBy={tipId}
        onType={(typed) => {
          verify.clearError()
          resend.clearError()
          setCode(typed)
        }}
        onComplete={(full) => verify.mutate(full)}
        onResend={() => {
          verify.clearError()
          resend.mutate()
        }}
        onReturn={onReturn}
      />
    </div>
  )
}

function codeOf(error: Error): string {
  return error instanceof CallError ? error.code : ''
}

async function startDeletion(email: string): Promise<MailedCode> {
  const body = { clientToken: await clientToken() }
  const { id } = await call('POST /users/current/deletion', { body })
  return { id, email, sentAt: Date.now() }
}

async function verifyDeletion(id: string, confirmCode: string): Promise<{ erasedAt: number }> {
  const body = { confirmCode, clientToken: await clientToken() }
  return call('POST /users/current/deletion/:id/verify', { params: { id }, body })
}
