import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { useReconnect } from '../platform/online.ts'
import { isUnanswered } from './call-error.ts'

/**
 * `mutate` does nothing while an earlier call is pending: `isPending` arrives a render too late for
 * a second Enter in the same frame. The callbacks in `options` run even when the component is gone.
 * An error without an answer is cleared when the network is back.
 */
export function useSingleMutation<Data, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
) {
  const { mutateAsync, isPending, isSuccess, variables, error, reset } = useMutation(options)
  const isRunning = useRef(false)

  useReconnect(() => {
    if (isUnanswered(error)) reset()
  })

  async function run(variables: Variables): Promise<void> {
    isRunning.current = true
    try {
      await mutateAsync(variables)
    } catch {
      // The caller gets it as `error` and in `onError`.
    } finally {
      isRunning.current = false
    }
  }

  return {
    isPending,
    isSuccess,
    variables,
    error,
    clearError: (): void => {
      if (error) reset()
    },
    mutate: (variables: Variables): void => {
      if (!isRunning.current) void run(variables)
    },
  }
}
