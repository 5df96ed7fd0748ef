import Type from 'typebox'
import { OPAQUE_MAX } from './constants.ts'
import { endpoint, strictObject } from './endpoint.ts'
import { Id, line, UnixSeconds } from './fields.ts'

export const Profile = strictObject({
  id: Id,
  username: Type.String(),
  created_at: UnixSeconds,
  posts_count: Type.Integer(),
  replies_count: Type.Integer(),
})
export type Profile = Type.Static<typeof Profile>

export const readProfile = endpoint('GET', '/profiles/:username', {
  access: 'public',
  summary: 'Who has a username, or had it in the last 30 days',
  params: strictObject({ username: line(1, OPAQUE_MAX) }),
  answer: Profile,
})
