import Type from 'typebox'
import { ReplySummary } from './answers.ts'
import { OPAQUE_MAX, USERNAME_MAX, USERNAME_MIN } from './constants.ts'
import { described, endpoint, strictObject } from './endpoint.ts'
import {
  ClientToken,
  Count,
  Email,
  Id,
  IdParams,
  line,
  OperationAnswer,
  UnixSeconds,
  VerifyBody,
} from './fields.ts'
import { Block } from './moderation.ts'

export const CurrentUser = strictObject({
  id: Id,
  username: Type.String(),
  email: Type.String(),
  isModerator: Type.Optional(Type.Literal(true)),
  waitingReports: Type.Optional(
    described(Count, 'For moderators: the number of posts that wait for a decision'),
  ),
  hasNewOutcomes: Type.Optional(
    Type.Literal(true, { description: 'Moderators have decided reports of this user since' }),
  ),
  lastRemoval: Type.Optional(
    described(
      UnixSeconds,
      'When a moderator last removed a post of this user that is still removed',
    ),
  ),
  block: Type.Optional(Block),
})
export type CurrentUser = Type.Static<typeof CurrentUser>

export const OwnAccount = strictObject({
  ...CurrentUser.properties,
  /** Absent if it equals NO_REPLIES_RECEIVED. */
  received: Type.Optional(ReplySummary),
  mutedAuthors: Type.Optional(
    Type.Array(Id, { description: 'Ids of users whose posts the viewer does not want to see' }),
  ),
})
export type OwnAccount = Type.Static<typeof OwnAccount>

export const readCurrentUser = endpoint('GET', '/users/current', {
  access: 'user',
  summary: 'The viewer’s account, and what their pages show: unseen replies, and whom they muted',
  answer: OwnAccount,
})

export const startEmailChange = endpoint('PUT', '/users/current/email', {
  access: 'user',
  summary: 'Start an e-mail change: a code goes to the new address',
  setsCookie: true,
  body: strictObject({ email: Email, clientToken: ClientToken }),
  status: 201,
  answer: OperationAnswer,
  errors: ['EMAIL_ALREADY_EXISTS'],
})

export const verifyEmailChange = endpoint('PUT', '/users/current/email/:id/verify', {
  access: 'user',
  summary: 'Finish an e-mail change with the mailed code',
  params: IdParams,
  body: VerifyBody,
  answer: strictObject({ email: Type.String() }),
  errors: [
    'INVALID_CONFIRM_CODE',
    'MAX_CONFIRM_ATTEMPTS',
    'OPERATION_EXPIRED',
    'EMAIL_ALREADY_EXISTS',
  ],
})

export const undoEmailChange = endpoint('POST', '/email-changes/:id/undo', {
  access: 'public',
  summary:
    'Undo an e-mail change within three days, with the link mailed to the old address; an account deleted since comes back',
  params: IdParams,
  body: strictObject({
    secret: Type.String({
      minLength: 1,
      maxLength: OPAQUE_MAX,
      description: 'What the mailed link has after its last dot',
    }),
  }),
  errors: ['LINK_EXPIRED', 'EMAIL_ALREADY_EXISTS'],
})

export const validateUsername = endpoint('GET', '/users/:username/validation', {
  access: 'user',
  summary: 'Whether a username is valid and free',
  params: strictObject({ username: Type.String({ minLength: 1 }) }),
  answer: strictObject({ username: Type.String(), available: Type.Literal(true) }),
  errors: ['INVALID_USERNAME', 'USERNAME_ALREADY_EXISTS'],
})

const WishedUsername = Type.String({
  description: `${USERNAME_MIN} to ${USERNAME_MAX} Latin letters, digits and underscores`,
})

export const changeUsername = endpoint('PATCH', '/users/current/profile', {
  access: 'user',
  publishes: true,
  summary: 'Take another username',
  body: strictObject({ username: WishedUsername }),
  answer: CurrentUser,
  errors: ['INVALID_USERNAME', 'USERNAME_ALREADY_EXISTS'],
})

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
