import { describe, expect, test } from 'vitest'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'
import {
  type Flow,
  type FlowEvent,
  firstStep,
  isRegistration,
  next,
  type Operation,
} from './sign-in-flow.ts'

const operation: Operation = { way: 'login', email: 'anna@mail.ru', id: 'op-1', sentAt: 1000 }

function refusal(code: ErrorCode): FlowEvent {
  return { name: 'refused', problem: { code, message: ERRORS[code].message } }
}

function run(flow: Flow, ...events: FlowEvent[]): Flow {
  return events.reduce(next, flow)
}

const atEmail = run(firstStep(null), { name: 'typed-email', email: 'anna@mail.ru' })
const atCode = run(atEmail, { name: 'asked' }, { name: 'started', operation })

describe('signing in', () => {
  test('an address, a code, done', () => {
    expect(atCode).toEqual({ at: 'code', operation, code: '', busy: false, problem: null })
    const done = run(
      atCode,
      { name: 'typed-code', code: '123456' },
      { name: 'asked' },
      { name: 'verified' },
    )
    expect(done.at).toBe('done')
  })

  test('a deleted account is offered back to whoever has its code, and the same code brings it back', () => {
    const asked = run(atCode, { name: 'typed-code', code: '123456' }, { name: 'asked' })
    const deleted = run(asked, refusal('ACCOUNT_DELETED'))
    const { message } = ERRORS.ACCOUNT_DELETED
    const step = { at: 'deleted', operation, code: '123456', message, busy: false, problem: null }
    expect(deleted).toEqual(step)
    expect(run(deleted, { name: 'asked' }, refusal('UNAVAILABLE'))).toMatchObject({
      at: 'deleted',
      problem: { code: 'UNAVAILABLE' },
    })
    expect(run(deleted, { name: 'asked' }, { name: 'verified' }).at).toBe('done')
    expect(run(deleted, { name: 'returned' })).toMatchObject({ at: 'email', email: 'anna@mail.ru' })
  })

  test('an unknown address is offered registration with the same address', () => {
    const offered = run(atEmail, { name: 'asked' }, refusal('USER_NOT_FOUND'))
    expect(offered).toEqual({
      at: 'offer-registration',
      email: 'anna@mail.ru',
      busy: false,
      problem: null,
    })
    const registering = { ...operation, way: 'registration' as const }
    const on = run(offered, { name: 'asked' }, { name: 'started', operation: registering })
    expect(on).toMatchObject({ at: 'code', operation: registering })
    expect([atEmail, atCode, offered, on].map(isRegistration)).toEqual([false, false, true, true])
  })

  test('returning resets the flow, the address stays to be corrected', () => {
    const offered = run(atEmail, { name: 'asked' }, refusal('USER_NOT_FOUND'))
    expect(run(offered, { name: 'returned' })).toEqual({ ...atEmail })
    expect(run(atCode, { name: 'returned' })).toEqual({ ...atEmail })
  })

  test('continues at the code after a reload', () => {
    expect(firstStep(operation)).toMatchObject({ at: 'code', operation })
  })
})

describe('refusals', () => {
  test.each(['INVALID_REQUEST', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'] as const)(
    '%s stays under the address until it is typed again',
    (code) => {
      const stuck = run(atEmail, { name: 'asked' }, refusal(code))
      expect(stuck).toMatchObject({ at: 'email', busy: false, problem: { code } })
      expect(run(stuck, { name: 'typed-email', email: 'a' }).problem).toBeNull()
    },
  )

  test('USER_NOT_FOUND while registering is shown, not offered again', () => {
    const offered = run(atEmail, { name: 'asked' }, refusal('USER_NOT_FOUND'))
    const again = run(offered, { name: 'asked' }, refusal('USER_NOT_FOUND'))
    expect(again).toMatchObject({ at: 'offer-registration', problem: { code: 'USER_NOT_FOUND' } })
  })

  test('a wrong code empties the input; typing removes the error', () => {
    const wrong = run(
      atCode,
      { name: 'typed-code', code: '123456' },
      { name: 'asked' },
      refusal('INVALID_CONFIRM_CODE'),
    )
    expect(wrong).toMatchObject({ code: '', problem: { code: 'INVALID_CONFIRM_CODE' } })
    expect(run(wrong, { name: 'typed-code', code: '1' })).toMatchObject({
      code: '1',
      problem: null,
    })
  })

  test.each(['MAX_CONFIRM_ATTEMPTS', 'OPERATION_EXPIRED'] as const)(
    '%s stays on the code, a new operation can be started from there',
    (code) => {
      const spent = run(atCode, { name: 'asked' }, refusal(code))
      expect(spent).toMatchObject({ at: 'code', problem: { code } })
      const fresh = { ...operation, id: 'op-2' }
      const again = run(spent, { name: 'asked' }, { name: 'started', operation: fresh })
      expect(again).toMatchObject({ at: 'code', operation: fresh, problem: null })
    },
  )

  test('a code that never reached the server stays to be sent again', () => {
    const lost = run(
      atCode,
      { name: 'typed-code', code: '123456' },
      { name: 'asked' },
      { name: 'refused', problem: { code: 'OFFLINE', message: 'Нет связи' } },
    )
    expect(lost).toMatchObject({ code: '123456', busy: false, problem: { code: 'OFFLINE' } })
  })
})

describe('late answers', () => {
  test('an answer after returning changes nothing', () => {
    const returned = run(atEmail, { name: 'asked' }, { name: 'returned' })
    expect(run(returned, { name: 'started', operation })).toBe(returned)
    expect(run(returned, refusal('USER_NOT_FOUND'))).toBe(returned)
    const another = run(returned, { name: 'typed-email', email: 'b@mail.ru' }, { name: 'asked' })
    expect(run(another, { name: 'started', operation })).toBe(another)
  })

  test('nothing can be typed while a code is being checked', () => {
    const checking = run(atCode, { name: 'typed-code', code: '123456' }, { name: 'asked' })
    expect(run(checking, { name: 'typed-code', code: '9' })).toBe(checking)
  })
})

test('an error for want of an answer goes when the network is back, a refusal stays', () => {
  const asked = next(firstStep(null), { name: 'asked' })
  const refuse = (code: 'OFFLINE' | 'INVALID_REQUEST') =>
    next(asked, { name: 'refused', problem: { code, message: 'Нет' } })
  expect(next(refuse('OFFLINE'), { name: 'reconnected' }).problem).toBeNull()
  expect(next(refuse('INVALID_REQUEST'), { name: 'reconnected' }).problem).not.toBeNull()
})
