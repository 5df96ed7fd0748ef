import { type ReactNode, useId, useState } from 'react'
import { MOVED_PATH, PATHS } from '../../contract/pages.ts'
import { EmailEntry } from '../codes/email-entry.tsx'
import type { MailedCode } from '../codes/use-mailed-code.ts'
import { arePasskeysAllowed } from '../platform/passkeys-allowed.ts'
import { type Intent, intentToResume } from '../session/intents.ts'
import { useSiteState } from '../session/site-state.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmailText } from '../ui/form/email-text.tsx'
import { useFocusOnMount } from '../ui/form/field.tsx'
import { FormError } from '../ui/states/errors.tsx'
import { Spinner } from '../ui/states/spinner.tsx'
import styles from './steps.module.css'
import { type usePasskey, usePasskeyOffer } from './use-passkey.ts'

const REASONS: Partial<Record<Intent['name'], string>> = {
  like: 'Чтобы отметить запись, войдите',
  reply: 'Чтобы ответить, войдите',
  'new-post': 'Чтобы написать, войдите',
  report: 'Чтобы пожаловаться, войдите',
}

type EmailStepProps = { mailed: MailedCode; passkey: ReturnType<typeof usePasskey> }

export function EmailStep({ mailed, passkey }: EmailStepProps) {
  const [intent] = useState(intentToResume)
  usePasskeyOffer(passkey.signIn)
  const enter = (intent && REASONS[intent.name]) ?? 'Войдите'
  const { isInviteOnly, movedFrom } = useSiteState()
  const how = isInviteOnly ? ' по приглашению' : ''
  return (
    <EmailEntry
      mailed={mailed}
      field={useState(mailed.email)}
      className={styles.form}
      tip={`${enter} или зарегистрируйтесь${how}: пришлём код на почту, пароль не нужен`}
      withPasskeys={arePasskeysAllowed()}
      onSubmit={(email) => mailed.start({ email, way: 'login' })}
    >
      {passkey.refusal.message && <FormError>{passkey.refusal.message}</FormError>}
      {movedFrom && <Moved from={movedFrom} />}
    </EmailEntry>
  )
}

/** Shows why people who were signed in at the wall's former address are not here. */
function Moved({ from }: { from: string }) {
  return (
    <p className={classes('soft', styles.note)}>
      Стена переехала с {from.replace(/^https?:\/\//, '')}, поэтому войдите ещё раз: вход и ключи
      доступа действовали только там.{' '}
      <a href={from + MOVED_PATH}>Черновики остались по прежнему адресу</a>
    </p>
  )
}

type OfferStepProps = {
  mailed: Pick<MailedCode, 'isPending' | 'refusal'>
  tip: ReactNode
  accept: string
  decline?: string
  onAccept: () => void
  onReturn: () => void
  children?: ReactNode
}

export function OfferStep(props: OfferStepProps) {
  const { tip, accept, decline = 'Вернуться', onAccept, onReturn } = props
  const { isPending, refusal } = props.mailed
  const tipId = useId()
  // The focused input is gone. On this button, screen readers read the question.
  const proceed = useFocusOnMount<HTMLButtonElement>()
  return (
    <>
      <p className="tip" id={tipId}>
        {tip}
      </p>
      {props.children}
      <FormError>{refusal.message}</FormError>
      <Button
        ref={proceed}
        variant="primary"
        wide
        pending={isPending}
        disabled={refusal.secondsLeft > 0}
        aria-describedby={tipId}
        onClick={onAccept}
      >
        {accept}
      </Button>
      <Button variant="plain" wide disabled={isPending} onClick={onReturn}>
        {decline}
      </Button>
    </>
  )
}

type OfferRegistrationProps = Pick<OfferStepProps, 'onReturn'> & { mailed: MailedCode }

/** Offers to register. The links open a new tab, so that the dialog stays as it is. */
export function OfferRegistrationStep({ mailed, onReturn }: OfferRegistrationProps) {
  const { email, start } = mailed
  const tip = (
    <>
      Аккаунта с почтой{' '}
      <b>
        <EmailText address={email} />
      </b>{' '}
      пока нет. Зарегистрироваться?
    </>
  )
  return (
    <OfferStep
      mailed={mailed}
      tip={tip}
      accept="Продолжить"
      onAccept={() => start({ email, way: 'registration' })}
      onReturn={onReturn}
    >
      <p className={classes('soft', styles.note)}>
        Продолжая, вы принимаете{' '}
        <a href={PATHS.rules} target="_blank" rel="noreferrer">
          правила
        </a>{' '}
        и даёте{' '}
        <a href={PATHS.consent} target="_blank" rel="noreferrer">
          согласие на обработку персональных данных
        </a>
        .
      </p>
    </OfferStep>
  )
}

export function ClosedStep({ message, onReturn }: { message: string; onReturn: () => void }) {
  const back = useFocusOnMount<HTMLButtonElement>()
  const tipId = useId()
  return (
    <>
      <p className="tip" id={tipId}>
        {message}
      </p>
      <p className={classes('soft', styles.note)}>
        Если у вас есть приглашение, откройте его ссылку. Войти с почтой, на которую аккаунт уже
        есть, можно как всегда
      </p>
      <Button ref={back} wide aria-describedby={tipId} onClick={onReturn}>
        Вернуться
      </Button>
    </>
  )
}

export function DoneStep() {
  return (
    <>
      <p className="tip">Всё верно, входим...</p>
      <div className={styles.done}>
        <Spinner label="Входим" size={28} />
      </div>
    </>
  )
}
