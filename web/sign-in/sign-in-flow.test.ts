import { expect, test } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { stepAfter } from './sign-in-flow.ts'

const login = { email: 'anna@mail.ru', way: 'login' } as const
const registration = { ...login, way: 'registration' } as const
const attempt = { code: '123456' }

const closed = { at: 'closed', message: ERRORS.REGISTRATION_CLOSED.message }
const deleted = { at: 'deleted', code: '123456', message: ERRORS.ACCOUNT_DELETED.message }

// Other refusals stay under the field. The code of a deleted account restores it.
test.each([
  ['USER_NOT_FOUND', login, { at: 'offer-registration' }],
  ['ACCOUNT_DELETED', attempt, deleted],
  ['REGISTRATION_CLOSED', registration, closed],
  ['REGISTRATION_CLOSED', attempt, closed],
  ['USER_NOT_FOUND', registration, null],
  ['TOO_MANY_REQUESTS', login, null],
  ['INVALID_CONFIRM_CODE', attempt, null],
  ['OPERATION_EXPIRED', attempt, null],
] as const)('after %s to %j comes the step %j', (code, sent, step) => {
  expect(stepAfter({ code, message: ERRORS[code].message }, sent)).toEqual(step)
})
