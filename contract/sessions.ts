import Type from 'typebox'
import { described, endpoint, strictObject } from './endpoint.ts'
import { AccessTokenAnswer, ClientToken, Device, Id, IdParams, UnixSeconds } from './fields.ts'

export const Session = strictObject({
  id: Id,
  current: Type.Boolean({ description: 'Whether it is the session of this call' }),
  createdAt: UnixSeconds,
  device: Device,
})
export type Session = Type.Static<typeof Session>

export const refreshSession = endpoint('PATCH', '/sessions/current', {
  access: 'cookie',
  summary: 'Exchange the session cookie for a fresh access token, and sometimes for a new cookie',
  setsCookie: true,
  body: strictObject({
    clientToken: Type.Optional(
      described(ClientToken, 'Of the sign-in. A browser that has lost it sends the cookie alone'),
    ),
  }),
  answer: AccessTokenAnswer,
  /** The message of SESSION_CLOSED states the reason. An expired session returns UNAUTHORIZED. */
  errors: ['UNAUTHORIZED', 'SESSION_CLOSED', 'FORBIDDEN'],
})

export const listSessions = endpoint('GET', '/sessions', {
  access: 'user',
  summary: 'Live sessions of the viewer, the current one first',
  answer: strictObject({ sessions: Type.Array(Session) }),
})

export const closeSession = endpoint('DELETE', '/sessions/:id', {
  access: 'user',
  summary: 'Close another session of the viewer',
  params: IdParams,
  errors: ['SESSION_NOT_FOUND', 'CURRENT_SESSION'],
})

export const closeOtherSessions = endpoint('DELETE', '/sessions', {
  access: 'user',
  summary: 'Close every session of the viewer but the current one',
})

export const closeCurrentSession = endpoint('DELETE', '/sessions/current', {
  access: 'user',
  summary: 'Log out: close the current session and clear its cookie',
  setsCookie: true,
})
