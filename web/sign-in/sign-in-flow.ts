import type { MailedCode } from '../codes/mailed-code.ts'
import type { CallError } from '../http/call-error.ts'

export type Way = 'login' | 'registration'

/** Saved for a reload, so it has all that is needed to continue. */
export type Operation = MailedCode & { way: Way }

/**
 * The error under the input; its code decides whether the code step can continue. `until` (unix
 * milliseconds) is set if the step counts the wait down.
 */
export type Problem = { code: CallError['code'] | 'DEVICE'; message: string; until?: number }

export type Flow = { busy: boolean; problem: Problem | null } & (
  | { at: 'email'; email: string }
  | { at: 'offer-registration'; email: string }
  | { at: 'closed'; email: string; message: string }
  | { at: 'code'; operation: Operation; code: string }
  | { at: 'deleted'; operation: Operation; code: string; message: string }
  | { at: 'done' }
)

export type FlowEvent =
  | { name: 'typed-email'; email: string }
  | { name: 'typed-code'; code: string }
  | { name: 'asked' }
  | { name: 'started'; operation: Operation }
  | { name: 'verified' }
  | { name: 'refused'; problem: Problem }
  | { name: 'returned' }
  | { name: 'reconnected' }

export function firstStep(operation: Operation | null): Flow {
  const idle = { busy: false, problem: null }
  return operation
    ? { at: 'code', operation, code: '', ...idle }
    : { at: 'email', email: '', ...idle }
}

/** Events that do not belong to the current step change nothing: they are late answers. */
export function next(flow: Flow, event: FlowEvent): Flow {
  switch (event.name) {
    case 'typed-email':
      return flow.at === 'email' ? { ...flow, email: event.email, problem: null } : flow
    case 'typed-code':
      return flow.at === 'code' && !flow.busy ? { ...flow, code: event.code, problem: null } : flow
    case 'asked':
      return { ...flow, busy: true, problem: null }
    case 'started':
      return started(flow, event.operation)
    case 'verified':
      return flow.at === 'code' || flow.at === 'deleted'
        ? { at: 'done', busy: true, problem: null }
        : flow
    case 'refused':
      return refused(flow, event.problem)
    case 'reconnected':
      return isUnanswered(flow.problem) ? { ...flow, problem: null } : flow
    case 'returned':
      return { at: 'email', email: emailOf(flow), busy: false, problem: null }
  }
}

export function emailOf(flow: Flow): string {
  if (flow.at === 'code' || flow.at === 'deleted') return flow.operation.email
  return flow.at === 'done' ? '' : flow.email
}

export function isRegistration(flow: Flow): boolean {
  if (flow.at === 'code') return flow.operation.way === 'registration'
  return flow.at === 'offer-registration' || flow.at === 'closed'
}

function started(flow: Flow, operation: Operation): Flow {
  const isExpected = flow.busy && flow.at !== 'done' && operation.email === emailOf(flow).trim()
  return isExpected ? { at: 'code', operation, code: '', busy: false, problem: null } : flow
}

function refused(flow: Flow, problem: Problem): Flow {
  if (!flow.busy) return flow
  if (flow.at === 'email' && problem.code === 'USER_NOT_FOUND') {
    return { at: 'offer-registration', email: flow.email, busy: false, problem: null }
  }
  if (problem.code === 'REGISTRATION_CLOSED' && flow.at !== 'done') {
    const { message } = problem
    return { at: 'closed', email: emailOf(flow), message, busy: false, problem: null }
  }
  if (flow.at === 'code' && problem.code === 'ACCOUNT_DELETED') {
    const { operation, code } = flow
    return { at: 'deleted', operation, code, message: problem.message, busy: false, problem: null }
  }
  // A refused code cannot be used again; one that did not reach the server can be sent again.
  if (flow.at === 'code' && isRefusedCode(problem)) {
    return { ...flow, code: '', busy: false, problem }
  }
  return { ...flow, busy: false, problem }
}

function isUnanswered(problem: Problem | null): boolean {
  return problem?.code === 'OFFLINE' || problem?.code === 'TIMEOUT'
}

function isRefusedCode({ code }: Problem): boolean {
  return (
    code === 'INVALID_CONFIRM_CODE' ||
    code === 'MAX_CONFIRM_ATTEMPTS' ||
    code === 'OPERATION_EXPIRED'
  )
}
