import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { isEmail } from '../../contract/account-rules.ts'
import { emailInLetters } from '../format/email-in-letters.ts'
import { CallError } from '../http/call-error.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { TextField } from '../ui/form/field.tsx'
import { liveRegion } from '../ui/live-region.ts'
import { FormError } from '../ui/states/errors.tsx'
import styles from './codes.module.css'
import { likelyDomain } from './likely-domain.ts'
import { emailIn, withoutUnseen } from './pasted.ts'
import { inTime, type MailedCode } from './use-mailed-code.ts'

type EmailEntryProps = {
  mailed: MailedCode
  className: string | undefined
  /** The instruction above the field, which also describes it for screen readers. */
  tip: string
  /** What stands in the field, and the function that changes it. */
  field: readonly [typed: string, setTyped: (text: string) => void, ...unknown[]]
  /** Lets the browser offer passkeys too. */
  withPasskeys?: boolean
  /** The viewer's current address. */
  own?: string
  onSubmit: (email: string) => void
  /** Shown above the tip. */
  children?: ReactNode
}

export function EmailEntry(props: EmailEntryProps) {
  const { mailed, className, tip, withPasskeys, onSubmit, children } = props
  const tipId = useId()
  const { typed, type, email, error, mayProceed, show } = useTypedEmail(props)
  const meant = useMeantDomain(email, type)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!mayProceed) return
    if (!meant.ask()) onSubmit(email)
  }

  return (
    <form className={className} onSubmit={submit} noValidate>
      {children}
      <p className="tip" id={tipId}>
        {tip}
      </p>
      {!navigator.cookieEnabled && (
        <FormError>
          Браузер не принимает cookie: без них войти нельзя. Разрешите их для этого сайта
        </FormError>
      )}
      <TextField
        label="Электронная почта"
        // With the type email, Chromium would turn пример.рф into xn--e1afmkfd.xn--p1ai.
        type="text"
        autoComplete={withPasskeys ? 'email webauthn' : 'email'}
        autoCapitalize="none"
        autoCorrect="off"
        inputMode="email"
        spellCheck={false}
        focusOnMount
        required
        value={typed}
        readOnly={mailed.isPending}
        describedBy={tipId}
        error={error}
        onChange={type}
        cleanPaste={emailIn}
        // An unfinished address is not shown as wrong until the person leaves the field or presses
        // Enter, which a disabled button would ignore silently.
        onBlur={() => typed !== '' && show()}
        onKeyDown={({ key }) => key === 'Enter' && show()}
      />
      <div className={classes('wrap', styles.actions)} {...liveRegion(meant.asked !== undefined)}>
        {meant.asked && (
          <Button onClick={({ currentTarget }) => meant.take(currentTarget.form)}>
            Может быть, {meant.asked}?
          </Button>
        )}
      </div>
      <div className={classes('wrap', styles.actions)}>
        <Button type="submit" variant="primary" pending={mailed.isPending} disabled={!mayProceed}>
          Продолжить{inTime(mailed.refusal.secondsLeft)}
        </Button>
      </div>
    </form>
  )
}

/** Asks once about an address whose domain is probably mistyped. Submitting again confirms it. */
function useMeantDomain(email: string, type: (text: string) => void) {
  const [askedFor, setAskedFor] = useState('')
  const domain = likelyDomain(email)
  const asked = askedFor === email ? domain : undefined
  return {
    /** The domain that the person is asked about. */
    asked,
    /** Returns false if there is nothing to ask, or this address was asked about already. */
    ask(): boolean {
      if (domain) setAskedFor(email)
      return domain !== undefined && domain !== asked
    },
    take(form: HTMLFormElement | null): void {
      type(email.replace(/[^@]*$/, domain ?? ''))
      // The button disappears, and would take the focus with it.
      form?.querySelector<HTMLElement>('[type=submit]')?.focus()
    },
  }
}

function useTypedEmail({ mailed, field: [typed, setTyped], own }: EmailEntryProps) {
  const { error, refusal } = mailed
  const [isShown, setShown] = useState(false)
  const email = withoutUnseen(typed)
  // The server too treats these forms as the same address.
  const isOwn = own !== undefined && sameForm(email) === sameForm(own)
  const invalid = isOwn ? 'Это ваша нынешняя почта' : validationError(email)
  const isRefused = error instanceof CallError && error.status === 400
  return {
    typed,
    type: (text: string) => {
      mailed.clearError()
      setTyped(text)
    },
    email,
    error: refusal.message ?? (isShown || isOwn ? invalid : undefined),
    mayProceed: !invalid && !isRefused && refusal.secondsLeft === 0,
    /** Shows validation errors from now on. */
    show: () => setShown(true),
  }
}

function sameForm(email: string): string {
  return emailInLetters(email).toLowerCase()
}

function validationError(email: string): string | undefined {
  if (email === '') return 'Введите email'
  return isEmail(email) ? undefined : 'Введите корректный email'
}
