import { Modal } from '../ui/modal.tsx'
import { isRegistration } from './sign-in-flow.ts'
import {
  ClosedStep,
  CodeStep,
  DeletedStep,
  DoneStep,
  EmailStep,
  OfferRegistrationStep,
} from './steps.tsx'
import { type SignIn, useSignIn } from './use-sign-in.ts'

/** Success reloads the page. */
export function SignInDialog({ onClose }: { onClose: () => void }) {
  const signIn = useSignIn()
  const title = isRegistration(signIn.flow) ? 'Регистрация' : 'Вход'
  return (
    <Modal title={title} size="s" onClose={onClose}>
      <Step {...signIn} />
    </Modal>
  )
}

function Step(signIn: SignIn) {
  const { flow, isStarting, typeEmail, typeCode, start, verify, restore, restart } = signIn
  switch (flow.at) {
    case 'email':
      return <EmailStep {...flow} onType={typeEmail} onSubmit={() => start('login')} />
    case 'offer-registration':
      return (
        <OfferRegistrationStep
          {...flow}
          onAccept={() => start('registration')}
          onReturn={restart}
        />
      )
    case 'closed':
      return <ClosedStep {...flow} onReturn={restart} />
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
    case 'deleted':
      return <DeletedStep {...flow} onAccept={restore} onReturn={restart} />
    case 'done':
      return <DoneStep />
  }
}
