import { useEffect, useReducer, useRef } from 'react'
import { CallError, call } from '../api/call.ts'
import { identify } from '../api/device.ts'
import { errorMessage } from '../api/error-message.ts'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { forgetSignIn, keepSignIn, keptSignIn } from './kept-sign-in.ts'
import {
  emailOf,
  type Flow,
  type FlowEvent,
  firstStep,
  next,
  type Operation,
  type Problem,
  type Way,
} from './sign-in-flow.ts'

type Dispatch = (event: FlowEvent) => void

export type SignIn = {
  flow: Flow
  typeEmail: (email: string) => void
  typeCode: (code: string) => void
  /** Asks for a code, for an account that exists or for a new one. */
  start: (way: Way) => Promise<void>
  /** Checks a full code; when it is right, the page reloads. */
  verify: (code: string) => Promise<void>
  /** Back to the address. */
  restart: () => void
}

/** Carries out the sign-in flow: calls, what is kept for a reload, the reload at its end. */
export function useSignIn(): SignIn {
  const [flow, dispatch] = useReducer(next, null, () =>
    firstStep(keptSignIn(Date.now())?.operation ?? null),
  )
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    // While the address is being typed; should it fail, sending the address tries again and says so.
    identify().catch(() => {})
    return () => controller.abort()
  }, [])

  return {
    flow,
    typeEmail: (email) => dispatch({ name: 'typed-email', email }),
    typeCode: (code) => dispatch({ name: 'typed-code', code }),
    start: (way) => {
      const { signal } = leaving.current
      return attempt(dispatch, () => start(way, emailOf(flow).trim(), signal))
    },
    verify: async (code) => {
      if (flow.at === 'code' && !flow.busy) {
        await attempt(dispatch, () => verify(flow.operation, code))
      }
    },
    restart: () => {
      forgetSignIn()
      dispatch({ name: 'returned' })
    },
  }
}

async function attempt(dispatch: Dispatch, action: () => Promise<FlowEvent>): Promise<void> {
  dispatch({ name: 'asked' })
  try {
    dispatch(await action())
  } catch (error) {
    dispatch({ name: 'refused', problem: toProblem(error) })
  }
}

async function start(way: Way, email: string, signal: AbortSignal): Promise<FlowEvent> {
  const body = { email, ...(await identify()) }
  const path = way === 'login' ? 'POST /logins' : 'POST /registrations'
  const { id } = await call(path, { body }, { signal })
  const operation = { way, email, id, sentAt: Date.now() }
  if (!signal.aborted) keepSignIn(operation)
  return { name: 'started', operation }
}

async function verify({ way, id }: Operation, confirmCode: string): Promise<FlowEvent> {
  const { clientToken } = await identify()
  const path = way === 'login' ? 'POST /logins/:id/verify' : 'POST /registrations/:id/verify'
  await call(path, { params: { id }, body: { confirmCode, clientToken } })
  forgetSignIn()
  announceSessionChange()
  location.reload()
  return { name: 'verified' }
}

function toProblem(error: unknown): Problem {
  const code = error instanceof CallError ? error.code : 'DEVICE'
  return { code, message: errorMessage(error) }
}
