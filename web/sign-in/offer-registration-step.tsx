import { useId, useRef } from 'react'
import { settings } from '../browser/page-settings.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts'
import { AuthShell } from './auth-shell.tsx'
import type { Problem } from './sign-in-flow.ts'

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
    <AuthShell appName={settings().appName} tip={tip} tipId={tipId}>
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
