import { settings } from '../lib/settings.ts'
import { Button } from '../ui/button.tsx'
import { AuthShell } from './auth-shell.tsx'
import type { Problem } from './sign-in-flow.ts'
import styles from './steps.module.css'

type OfferRegistrationStepProps = {
  email: string
  busy: boolean
  problem: Problem | null
  onContinue: () => void
  onReturn: () => void
}

/** Nobody has this address yet: offers to register with it. */
export function OfferRegistrationStep(props: OfferRegistrationStepProps) {
  const { email, busy, problem, onContinue, onReturn } = props
  const tip = (
    <>
      Аккаунта с почтой <b>{email}</b> пока нет. Зарегистрироваться?
    </>
  )
  return (
    <AuthShell appName={settings().appName} tip={tip}>
      <p className={styles.problem} role="alert">
        {problem?.message}
      </p>
      <Button variant="primary" wide pending={busy} onClick={onContinue}>
        Продолжить
      </Button>
      <Button variant="plain" wide disabled={busy} onClick={onReturn}>
        Вернуться
      </Button>
    </AuthShell>
  )
}
