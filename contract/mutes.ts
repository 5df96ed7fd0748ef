import Type from 'typebox'
import { MUTE_DAYS_MAX } from './constants.ts'
import { endpoint, strictObject } from './endpoint.ts'
import { IdParams, UnixSeconds } from './fields.ts'
import { Owner } from './posts.ts'

export const listMutes = endpoint('GET', '/users/current/mutes', {
  access: 'user',
  summary: 'Whose posts and replies the viewer does not want to see, the last muted first',
  answer: strictObject({
    users: Type.Array(strictObject({ ...Owner.properties, until: Type.Optional(UnixSeconds) })),
  }),
})

export const muteUser = endpoint('PUT', '/users/:id/mute', {
  access: 'user',
  summary: 'Leave a user’s posts and replies out of what the viewer sees; nobody is told',
  params: IdParams,
  /** Without `days` the mute has no end. */
  query: strictObject({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: MUTE_DAYS_MAX })),
  }),
  errors: ['INVALID_REQUEST', 'TOO_MANY_MUTES'],
})

export const unmuteUser = endpoint('DELETE', '/users/:id/mute', {
  access: 'user',
  summary: 'See a user’s posts and replies again',
  params: IdParams,
})
