import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { CallError, isUnanswered } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { useReconnect } from '../platform/online.ts'
import { toast } from '../ui/overlay/toaster.tsx'
import { type Intent, withViewer } from './intents.ts'
import { useSessionEnd } from './viewer.ts'

type ActionOptions<Data, Variables> = UseMutationOptions<Data, Error, Variables> & {
  /** Where an error shows. An object is for a dialog with SessionEnded: after it is closed, a toast. */
  errors?: 'line' | 'toast' | { failed: string; reopen: Intent }
}

/** Runs a write that a person triggers. The callbacks in `options` run even after an unmount. */
export function useAction<Data, Variables = void>(options: ActionOptions<Data, Variables>) {
  const { errors = 'line', ...rest } = options
  const isRunning = useRef(false)
  const hasEnded = useSessionEnd() !== undefined
  const reopen = () => void (typeof errors === 'object' && withViewer(errors.reopen))
  const { mutateAsync, isPending, isSuccess, variables, error, reset } = useMutation(rest)

  useReconnect(() => {
    if (isUnanswered(error)) reset()
  })

  async function run(input: Variables): Promise<void> {
    isRunning.current = true
    let isInSight = false
    const see = () => {
      isInSight = true
    }
    try {
      // Unlike those in `options`, this callback does not run after an unmount.
      await mutateAsync(input, { onError: see })
    } catch (reason) {
      const text = errorMessage(reason)
      if (errors === 'toast') toast({ text })
      else if (errors !== 'line' && !isInSight) {
        toast({ text: `${errors.failed}. ${text}`, link: { label: 'Вернуться', onSelect: reopen } })
      }
    } finally {
      isRunning.current = false
    }
  }

  // SessionEnded shows it.
  const isShownThere =
    hasEnded && typeof errors === 'object' && error instanceof CallError && error.status === 401
  return {
    isPending,
    isSuccess,
    variables,
    error,
    errorLine: {
      children: error && !isShownThere && errorMessage(error),
    },
    clearError: (): void => {
      if (error) reset()
    },
    // Checks the ref: `isPending` changes too late for a second Enter in the same frame. With a
    // `scope` the writes run one after the other, and none is dropped.
    mutate: (input: Variables): void => {
      if (rest.scope || !isRunning.current) void run(input)
    },
    /** Ignores how the action ends, except for the callbacks in `options`. */
    reset,
  }
}
