import { CodeEntry } from '../codes/code-entry.tsx'
import { settings } from '../platform/page-settings.ts'
import { Mark } from '../ui/icon.tsx'
import { Modal } from '../ui/overlay/modal.tsx'
import styles from './steps.module.css'
import { ClosedStep, DoneStep, EmailStep, OfferRegistrationStep, OfferStep } from './steps.tsx'
import { useSignIn } from './use-sign-in.ts'

export function SignInDialog({ onClose }: { onClose: () => void }) {
  const signIn = useSignIn()
  const { at } = signIn.step
  const isRegistration =
    at === 'mail'
      ? signIn.mailed.entry?.operation.way === 'registration'
      : at === 'offer-registration' || at === 'closed'
  return (
    <Modal
      title={isRegistration ? 'Регистрация' : 'Вход'}
      heading={
        <span className="line">
          <Mark size={28} solid />
          {settings().appName}
        </span>
      }
      onClose={onClose}
    >
      <div className={styles.shell}>
        <Step {...signIn} />
      </div>
    </Modal>
  )
}

function Step({ step, mailed, passkey, goBack }: ReturnType<typeof useSignIn>) {
  const { entry } = mailed
  switch (step.at) {
    case 'mail':
      return entry ? <CodeEntry {...entry} /> : <EmailStep {...{ mailed, passkey }} />
    case 'offer-registration':
      return <OfferRegistrationStep mailed={mailed} onReturn={goBack} />
    case 'closed':
      return <ClosedStep message={step.message} onReturn={goBack} />
    case 'deleted':
      return (
        <OfferStep
          mailed={'signIn' in step ? passkey : mailed}
          tip={step.message}
          accept="Вернуть аккаунт"
          decline="Отмена"
          onAccept={() => {
            if ('signIn' in step) passkey.signIn(step.signIn, true)
            else mailed.verify({ code: step.code, restore: true })
          }}
          onReturn={goBack}
        />
      )
    case 'done':
      return <DoneStep />
  }
}
