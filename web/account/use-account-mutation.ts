import type { UseMutationOptions } from '@tanstack/react-query'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { useSingleMutation } from '../http/use-single-mutation.ts'
import { useToast } from '../ui/toaster.tsx'

type AccountMutationOptions<Data, Variables> = Pick<
  UseMutationOptions<Data, Error, Variables>,
  'onSuccess'
> & {
  mutationFn: (variables: Variables) => Promise<Data>
  onRefused?: () => void
  /** The statuses that say something about the typed value: 400 unless set. */
  refusedBy?: readonly number[]
}

/**
 * A write from an account form. `refusal` is the server's message about the typed value, for the
 * line under its field; a toast shows any other error.
 */
export function useAccountMutation<Data, Variables>(
  options: AccountMutationOptions<Data, Variables>,
) {
  const { onRefused, refusedBy = [400], ...rest } = options
  const isRefusal = (error: unknown): error is CallError =>
    error instanceof CallError && refusedBy.includes(error.status)
  const toast = useToast()
  const { mutate, isPending, error, clearError } = useSingleMutation<Data, Variables>({
    ...rest,
    onError: (reason) => {
      if (isRefusal(reason)) onRefused?.()
      else toast({ text: errorMessage(reason) })
    },
  })
  return { mutate, isPending, refusal: isRefusal(error) ? error : null, clearError }
}
