import { expect, test } from 'vitest'
import { isDatabaseUnavailable, isOfErasedUser } from './database-errors.ts'

const coded = (code: string) => Object.assign(new Error(code), { code })

const UNAVAILABLE = '25006 25P03 28000 28P01 3D000 57P01 57014 53100 53300 08006 40P01 55P03'

test.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', ...UNAVAILABLE.split(' ')])(
  '%s means that a retry may succeed; other codes are errors of our own',
  (state) => {
    expect(isDatabaseUnavailable(coded(state))).toBe(true)
    const own = ['23505', '42P01', '22021', 'ERR_ASSERTION'].map(coded)
    expect(own.some(isDatabaseUnavailable)).toBe(false)
  },
)

test.each([
  ['Key (user_id)=(7) is not present in table "users".', true],
  ['Ключ (reporter_id)=(7) отсутствует в таблице "users".', true],
  ['Key (muted_id)=(77) is not present in table "users".', false],
  ['Key (post_id)=(7) is not present in table "posts".', false],
])('user 7 has been erased: %s %s', (detail, isErased) => {
  expect(isOfErasedUser(Object.assign(coded('23503'), { detail }), '7')).toBe(isErased)
})
