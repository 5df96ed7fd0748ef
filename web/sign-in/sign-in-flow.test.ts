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

test('the right code offers to restore a deleted account, and the same code restores it', () => {
  const { message } = ERRORS.ACCOUNT_DELETED
  expect(refused('ACCOUNT_DELETED', attempt)).toEqual({ at: 'deleted', code: '123456', message })
})

test.each([registration, attempt])('closed registrations are shown at the step of %j', (sent) => {
  const { message } = ERRORS.REGISTRATION_CLOSED
  expect(refused('REGISTRATION_CLOSED', sent)).toEqual({ at: 'closed', message })
})

test.each([
  ['USER_NOT_FOUND', registration],
  ['TOO_MANY_REQUESTS', login],
  ['INVALID_CONFIRM_CODE', attempt],
  ['OPERATION_EXPIRED', attempt],
] as const)('%s stays under the field of %j', (code, sent) => {
  expect(refused(code, sent)).toBeNull()
})
