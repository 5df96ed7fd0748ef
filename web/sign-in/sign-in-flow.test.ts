import { expect, test } from 'vitest'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'
import { stepAfter } from './sign-in-flow.ts'

const login = { email: 'anna@mail.ru', way: 'login' } as const
const registration = { ...login, way: 'registration' } as const
const attempt = { code: '123456' }

function refused(code: ErrorCode, sent: Parameters<typeof stepAfter>[1]) {
  return stepAfter({ code, message: ERRORS[code].message }, sent)
}

test('an unknown address is offered registration', () => {
  expect(refused('USER_NOT_FOUND', login)).toEqual({ at: 'offer-registration' })
})

test('USER_NOT_FOUND while registering is shown, not offered again', () => {
  expect(refused('USER_NOT_FOUND', registration)).toBeNull()
})

test('the right code offers to restore a deleted account, and the same code restores it', () => {
  const { message } = ERRORS.ACCOUNT_DELETED
  expect(refused('ACCOUNT_DELETED', attempt)).toEqual({ at: 'deleted', code: '123456', message })
})

test.each([
  ['address', registration],
  ['code', attempt],
])('closed registrations are shown at the step of the %s', (_step, sent) => {
  const { message } = ERRORS.REGISTRATION_CLOSED
  expect(refused('REGISTRATION_CLOSED', sent)).toEqual({ at: 'closed', message })
})

test.each([
  'INVALID_REQUEST',
  'TOO_MANY_REQUESTS',
  'UNAVAILABLE',
  'INVALID_CONFIRM_CODE',
  'MAX_CONFIRM_ATTEMPTS',
  'OPERATION_EXPIRED',
] as const)('%s stays under the address or the code', (code) => {
  expect([refused(code, login), refused(code, registration), refused(code, attempt)]).toEqual([
    null,
    null,
    null,
  ])
})
