import Type from 'typebox'
import { NAME_START_MIN, NAMES_SUGGESTED_MAX, USERNAME_MAX } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import { Id } from './fields.ts'
import { Owner } from './posts.ts'

export const suggestNames = endpoint('GET', '/users/suggestions', {
  access: 'user',
  summary:
    'Users to mention whose names begin with these letters: those of the thread first, then other authors, by name',
  query: strictObject({
    start: Type.String({
      pattern: `^[A-Za-z0-9_]{${NAME_START_MIN},${USERNAME_MAX}}$`,
      description: 'The first letters of a name',
    }),
    postId: Type.Optional(described(Id, 'The post that is replied to or edited')),
  }),
  answer: strictObject({ users: Type.Array(Owner, { maxItems: NAMES_SUGGESTED_MAX }) }),
})
