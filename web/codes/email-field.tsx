import { useState } from 'react'
import { isEmail } from '../../contract/account-rules.ts'
import { EMAIL_MAX } from '../../contract/constants.ts'
import { TextField } from '../ui/field.tsx'

type EmailFieldProps = {
  value: string
  validation: EmailValidation
  serverError: string | undefined
  describedBy: string
  readOnly: boolean
  required?: boolean
  onChange: (email: string) => void
}

export function EmailField({ validation, serverError, ...field }: EmailFieldProps) {
  return (
    <TextField
      {...field}
      label="Электронная почта"
      type="email"
      autoComplete="email"
      inputMode="email"
      maxLength={EMAIL_MAX}
      spellCheck={false}
      focusOnMount
      error={serverError ?? validation.shownError}
      onBlur={() => validation.onLeave()}
      onKeyDown={({ key }) => {
        if (key === 'Enter') validation.onEnter()
      }}
    />
  )
}

type EmailValidation = ReturnType<typeof useEmailValidation>

/**
 * An unfinished address is not shown as wrong until the person leaves the field or presses Enter,
 * which a disabled button would ignore silently. `own` is the address they have already.
 */
export function useEmailValidation(email: string, own?: string) {
  const [isShown, setShown] = useState(false)
  // The server does not tell addresses apart by case either.
  const isOwn = own !== undefined && email.trim().toLowerCase() === own.toLowerCase()
  const error = isOwn ? 'Это ваша нынешняя почта' : validationError(email.trim())
  return {
    error,
    shownError: isShown || isOwn ? error : undefined,
    onLeave: () => setShown(isShown || email !== ''),
    onEnter: () => setShown(true),
  }
}

function validationError(email: string): string | undefined {
  if (email === '') return 'Введите email'
  return isEmail(email) ? undefined : 'Введите корректный email'
}
