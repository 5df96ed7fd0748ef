import type { UseMutationOptions } from '@tanstack/react-query'
import { CallError } from '../api/call-error.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { useToast } from '../ui/toaster.tsx'

type AccountMutationOptions<Data, Variables> = Pick<
  UseMutationOptions<Data, Error, Variables>,
  'onSuccess'
> & {
  mutationFn: (variables: Variables) => Promise<Data>
  /** Called when the server refuses the typed value. */
  onRefused?: () => void
}

/**
 * A write from an account form. `refusal` is what the server says about the typed value (status 400), for the line under
 * its field; any other error is shown in a toast.
 */
export function useAccountMutation<Data, Variables>(
  options: AccountMutationOptions<Data, Variables>,
) {
  const { onRefused, ...rest } = options
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

function isRefusal(error: unknown): error is CallError {
  return error instanceof CallError && error.status === 400
}
