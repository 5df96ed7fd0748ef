import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/form-error.tsx'
import type { SendError } from './use-send-error.ts'

/** The line that says why a send failed, with the way to sign in where that is what is wanting. */
export function SendErrorLine({ error }: { error: Pick<SendError, 'text' | 'signIn'> }) {
  const action = error.signIn && (
    <Button variant="strong" size="s" onClick={error.signIn}>
      Войти
    </Button>
  )
  return <FormError action={action}>{error.text}</FormError>
}
