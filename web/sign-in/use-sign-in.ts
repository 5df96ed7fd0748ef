import { useEffect, useReducer, useRef } from 'react'
import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { countingWrongCodes } from '../codes/wrong-codes.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { useSingleMutation } from '../http/use-single-mutation.ts'
import { useReconnect } from '../platform/online.ts'
import { identify } from '../session/device.ts'
import { announceSessionChange } from '../session/viewer.ts'
import { savedInvitation } from './invitation.ts'
import { removeSavedSignIn, savedSignIn, saveRegistered, saveSignIn } from './saved-sign-in.ts'
import {
  emailOf,
  type Flow,
  firstStep,
  next,
  type Operation,
  type Problem,
  type Way,
} from './sign-in-flow.ts'

export type SignIn = {
  flow: Flow
  isStarting: boolean
  typeEmail: (email: string) => void
  typeCode: (code: string) => void
  start: (way: Way) => void
  /** When the code is right, the page reloads. */
  verify: (code: string) => void
  /** Brings back the deleted account whose code was right; then the page reloads. */
  restore: () => void
  restart: () => void
}

/** Runs the sign-in flow: its calls, what is saved for a reload, and the reload at the end. */
export function useSignIn(): SignIn {
  const [flow, dispatch] = useReducer(next, null, () => firstStep(savedSignIn(Date.now())))
  const closing = useClosingSignal()
  useReconnect(() => dispatch({ name: 'reconnected' }))
  const onMutate = () => dispatch({ name: 'asked' })
  const onError = (error: Error) => dispatch({ name: 'refused', problem: toProblem(error) })
  const starting = useSingleMutation({
    mutationFn: ({ way, email }: { way: Way; email: string }) =>
      startOperation(way, email, closing.current),
    onMutate,
    onSuccess: (operation) => dispatch({ name: 'started', operation }),
    onError,
  })
  const verifying = useSingleMutation({
    mutationFn: ({ operation, code, restore }: Verification) =>
      countingWrongCodes(operation, () => verifyOperation(operation, { code, restore })),
    onMutate,
    onSuccess: (_, { operation }) => {
      removeSavedSignIn()
      if (operation.way === 'registration') saveRegistered()
      announceSessionChange()
      location.reload()
      dispatch({ name: 'verified' })
    },
    onError,
  })

  return {
    flow,
    // The flow knows of an answer at once, the mutation's state comes a moment later.
    isStarting: starting.isPending && flow.busy,
    typeEmail: (email) => dispatch({ name: 'typed-email', email }),
    typeCode: (code) => dispatch({ name: 'typed-code', code }),
    start: (way) => starting.mutate({ way, email: emailOf(flow).trim() }),
    verify: (code) => {
      if (flow.at === 'code' && !flow.busy) verifying.mutate({ operation: flow.operation, code })
    },
    restore: () => {
      if (flow.at === 'deleted') {
        verifying.mutate({ operation: flow.operation, code: flow.code, restore: true })
      }
    },
    restart: () => {
      removeSavedSignIn()
      dispatch({ name: 'returned' })
    },
  }
}

/**
 * The signal is aborted when the dialog closes. Meanwhile the device is identified, which may take
 * a moment.
 */
function useClosingSignal() {
  const signal = useRef<AbortSignal>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    signal.current = controller.signal
    // Should it fail, sending the address tries again and shows the error.
    identify().catch(() => {})
    return () => controller.abort()
  }, [])
  return signal
}

async function startOperation(way: Way, email: string, closing?: AbortSignal): Promise<Operation> {
  const body = { email, ...(await identify()) }
  const options = { signal: closing }
  const { id } =
    way === 'login'
      ? await call('POST /logins', { body }, options)
      : await call('POST /registrations', { body: { ...body, ...savedInvitation() } }, options)
  const operation = { way, email, id, sentAt: Date.now() }
  if (!closing?.aborted) saveSignIn(operation)
  return operation
}

type Verification = { operation: Operation; code: string; restore?: true | undefined }

async function verifyOperation(
  { way, id }: Operation,
  { code, restore }: Omit<Verification, 'operation'>,
): Promise<void> {
  const { clientToken } = await identify()
  const body = { confirmCode: code, clientToken, ...(restore && { restore }) }
  const params = { id }
  if (way === 'login') await call('POST /logins/:id/verify', { params, body })
  else {
    const invited = { ...body, ...savedInvitation() }
    await call('POST /registrations/:id/verify', { params, body: invited })
  }
}

function toProblem(error: unknown): Problem {
  if (error instanceof CallError && error.code === 'TOO_MANY_REQUESTS' && hasReason(error)) {
    const { code, message, retryAfter = 0 } = error
    return { code, message, until: Date.now() + retryAfter * 1000 }
  }
  const code = error instanceof CallError ? error.code : 'DEVICE'
  return { code, message: errorMessage(error) }
}

/** The general message names only the wait. */
function hasReason({ message }: CallError): boolean {
  return message !== GENERAL_ERRORS.TOO_MANY_REQUESTS.message
}
