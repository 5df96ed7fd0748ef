import { settings } from '../browser/page-settings.ts'
import { Modal } from '../ui/modal.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { AuthShell } from './auth-shell.tsx'
import { CodeStep } from './code-step.tsx'
import { EmailStep } from './email-step.tsx'
import { OfferRegistrationStep } from './offer-registration-step.tsx'
import { isRegistration } from './sign-in-flow.ts'
import styles from './steps.module.css'
import { type SignIn, useSignIn } from './use-sign-in.ts'

/** Signing in and registering, step by step. Success reloads the page. */
export function SignInDialog({ onClose }: { onClose: () => void }) {
  const signIn = useSignIn()
  const title = isRegistration(signIn.flow) ? 'Регистрация' : 'Вход'
  return (
    <Modal title={title} size="s" onClose={onClose}>
      <Step {...signIn} />
    </Modal>
  )
}

function Step({ flow, isStarting, typeEmail, typeCode, start, verify, restart }: SignIn) {
  switch (flow.at) {
    case 'email':
      return <EmailStep {...flow} onType={typeEmail} onSubmit={() => start('login')} />
    case 'offer-registration':
      return (
        <OfferRegistrationStep
          {...flow}
          onContinue={() => start('registration')}
          onReturn={restart}
        />
      )
    case 'code':
      return (
        <CodeStep
          {...flow}
          isResending={isStarting}
          onType={typeCode}
          onComplete={verify}
          onResend={() => start(flow.operation.way)}
          onReturn={restart}
        />
      )
    case 'done':
      return <DoneStep />
  }
}

/** Shown when the code was right, until the page reloads. */
function DoneStep() {
  return (
    <AuthShell appName={settings().appName} tip="Всё верно, входим...">
      <div className={styles.done}>
        <Spinner label="Входим" size={28} />
      </div>
    </AuthShell>
  )
}
