import type { UseMutationOptions } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { CallError } from '../../http/call-error.ts'
import { errorMessage } from '../../http/error-message.ts'
import { useSingleMutation } from '../../http/use-single-mutation.ts'
import { type Intent, withViewer } from '../../session/intents.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/errors.tsx'
import { useToast } from '../../ui/toaster.tsx'

type DialogMutationOptions<Data, Variables> = Pick<
  UseMutationOptions<Data, Error, Variables>,
  'onSuccess' | 'mutationKey'
> & {
  mutationFn: (variables: Variables) => Promise<Data>
  /** The action that opens the dialog again. */
  intent: Intent
  /** The first sentence of the toast about an error: 'Не отправлено'. */
  failed: string
}

/** If the dialog was closed meanwhile, a toast shows the error and opens the dialog again. */
export function useDialogMutation<Data, Variables = void>(
  options: DialogMutationOptions<Data, Variables>,
) {
  const { intent, failed, ...rest } = options
  const toast = useToast()
  const isClosed = useIsUnmounted()
  const reopen = () => void withViewer(intent)
  const mutation = useSingleMutation<Data, Variables>({
    ...rest,
    onError: (error) => {
      if (!isClosed.current) return
      const text = `${failed}. ${errorMessage(error)}`
      toast({ text, link: { label: 'Вернуться', onSelect: reopen } })
    },
  })
  return { ...mutation, errorLine: lineFor(mutation.error, reopen) }
}

export type ErrorLine = {
  text: string | undefined
  signIn?: (() => void) | undefined
}

function lineFor(error: Error | null, reopen: () => void): ErrorLine {
  if (!error) return { text: undefined }
  const needsSignIn = error instanceof CallError && error.status === 401
  return { text: errorMessage(error), signIn: needsSignIn ? reopen : undefined }
}

export function MutationErrorLine({ line }: { line: ErrorLine }) {
  const action = line.signIn && (
    <Button variant="strong" size="s" onClick={line.signIn}>
      Войти
    </Button>
  )
  return <FormError action={action}>{line.text}</FormError>
}

function useIsUnmounted() {
  const isUnmounted = useRef(false)
  useEffect(() => {
    isUnmounted.current = false
    return () => {
      isUnmounted.current = true
    }
  }, [])
  return isUnmounted
}
