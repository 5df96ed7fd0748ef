import { type FormEvent, type ReactNode, useId, useRef } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { settings } from '../browser/page-settings.ts'
import { CodeEntry, type CodeEntryProps } from '../codes/code-entry.tsx'
import { EmailField, useEmailValidation } from '../codes/email-field.tsx'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/errors.tsx'
import { useFocusOnMount } from '../ui/field.tsx'
import { Mark } from '../ui/mark.tsx'
import { Spinner } from '../ui/spinner.tsx'
import type { Operation, Problem } from './sign-in-flow.ts'
import styles from './steps.module.css'

type EmailStepProps = {
  email: string
  busy: boolean
  problem: Problem | null
  onType: (email: string) => void
  onSubmit: () => void
}

/** Asks for the address to mail a code to. */
export function EmailStep({ email, busy, problem, onType, onSubmit }: EmailStepProps) {
  const tipId = useId()
  const validation = useEmailValidation(email)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!validation.error) onSubmit()
  }

  return (
    <AuthShell
      tip="Войдите или зарегистрируйтесь: пришлём код на почту, пароль не нужен"
      tipId={tipId}
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <EmailField
          value={email}
          validation={validation}
          serverError={problem?.message}
          describedBy={tipId}
          readOnly={busy}
          required
          onChange={onType}
        />
        <Button
          type="submit"
          variant="primary"
          wide
          pending={busy}
          disabled={validation.error !== undefined}
        >
          Продолжить
        </Button>
      </form>
      <Terms />
    </AuthShell>
  )
}

/** What a person agrees to by registering. In a new tab, so that the dialog stays as it is. */
function Terms() {
  return (
    <p className={styles.note}>
      Регистрируясь, вы принимаете{' '}
      <a href={PATHS.rules} target="_blank" rel="noreferrer">
        правила
      </a>{' '}
      и{' '}
      <a href={PATHS.privacy} target="_blank" rel="noreferrer">
        политику о персональных данных
      </a>
    </p>
  )
}

type OfferRegistrationStepProps = {
  email: string
  busy: boolean
  problem: Problem | null
  onContinue: () => void
  onReturn: () => void
}

/** Offers to register with an address that no account has. */
export function OfferRegistrationStep(props: OfferRegistrationStepProps) {
  const { email, busy, problem, onContinue, onReturn } = props
  const tipId = useId()
  const proceed = useRef<HTMLButtonElement>(null)
  // The input that had the focus is gone; on this button, screen readers read the question.
  useFocusOnMount(proceed, true)
  const tip = (
    <>
      Аккаунта с почтой <b>{email}</b> пока нет. Зарегистрироваться?
    </>
  )
  return (
    <AuthShell tip={tip} tipId={tipId}>
      <FormError>{problem?.message}</FormError>
      <Button
        ref={proceed}
        variant="primary"
        wide
        pending={busy}
        aria-describedby={tipId}
        onClick={onContinue}
      >
        Продолжить
      </Button>
      <Button variant="plain" wide disabled={busy} onClick={onReturn}>
        Вернуться
      </Button>
    </AuthShell>
  )
}

/** Says that nobody can register now, and why. */
export function ClosedStep({ message, onReturn }: { message: string; onReturn: () => void }) {
  const back = useRef<HTMLButtonElement>(null)
  const tipId = useId()
  useFocusOnMount(back, true)
  return (
    <AuthShell tip={message} tipId={tipId}>
      <p className={styles.note}>
        Если у вас есть приглашение, откройте его ссылку. Войти с почтой, на которую аккаунт уже
        есть, можно как всегда
      </p>
      <Button ref={back} wide aria-describedby={tipId} onClick={onReturn}>
        Вернуться
      </Button>
    </AuthShell>
  )
}

type CodeStepProps = Omit<CodeEntryProps, 'error' | 'describedBy' | 'wide'> & {
  operation: Operation
  problem: Problem | null
}

/** Asks for the mailed code. */
export function CodeStep({ problem, ...entry }: CodeStepProps) {
  const tipId = useId()
  const tip = (
    <>
      Отправили код на <b>{entry.operation.email}</b>. Если письма нет, проверьте папку «Спам»
    </>
  )
  return (
    <AuthShell tip={tip} tipId={tipId}>
      <CodeEntry {...entry} error={problem} describedBy={tipId} wide />
    </AuthShell>
  )
}

type DeletedStepProps = {
  /** What happened to the account, and until when it can be brought back. */
  message: string
  busy: boolean
  problem: Problem | null
  onRestore: () => void
  onReturn: () => void
}

/** Offers to bring back an account that was deleted, to the person who has proved its address. */
export function DeletedStep({ message, busy, problem, onRestore, onReturn }: DeletedStepProps) {
  const tipId = useId()
  const restore = useRef<HTMLButtonElement>(null)
  useFocusOnMount(restore, true)
  return (
    <AuthShell tip={message} tipId={tipId}>
      <FormError>{problem?.message}</FormError>
      <Button
        ref={restore}
        variant="primary"
        wide
        pending={busy}
        aria-describedby={tipId}
        onClick={onRestore}
      >
        Вернуть аккаунт
      </Button>
      <Button variant="plain" wide disabled={busy} onClick={onReturn}>
        Вернуться
      </Button>
    </AuthShell>
  )
}

/** Shown when the code was right, until the page reloads. */
export function DoneStep() {
  return (
    <AuthShell tip="Всё верно, входим...">
      <div className={styles.done}>
        <Spinner label="Входим" size={28} />
      </div>
    </AuthShell>
  )
}

type AuthShellProps = {
  /** One sentence on what to do here. */
  tip: ReactNode
  /** Id of the tip, for the element in the content that it describes. */
  tipId?: string
  children: ReactNode
}

/** The frame of every sign-in step: the name of the app, a tip, and the content in the centre. */
function AuthShell({ tip, tipId, children }: AuthShellProps) {
  return (
    <div className={styles.shell}>
      <Mark size={40} solid className={styles.mark} />
      <h3 className={styles.name}>{settings().appName}</h3>
      <p className={styles.tip} id={tipId}>
        {tip}
      </p>
      <div className={styles.content}>{children}</div>
    </div>
  )
}
