import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who may call: `public` anyone, though a bad bearer token is still refused; `user` a live session's bearer token only;
 * `cookie` whoever holds the session cookie.
 */
export type Access = 'public' | 'user' | 'cookie'

export type CacheRule = {
  /** Visitors get a copy of the answer that is at most so many seconds old, with an ETag. */
  maxAgeSeconds: number
  /** Values in the query that make the answer the viewer's own: such requests bypass the cache. */
  unless?: Record<string, string>
}

export type EndpointParts = {
  access: Access
  /** One line for the API's human page. */
  summary: string
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TObject
  /** Status of success, and its body unless there is none. */
  status: 200 | 201 | 204
  answer?: TSchema
  /** Turns the response cache on: the answers are posts, which differ between viewers only in their likes. */
  cache?: CacheRule
  /** Refusals of this call beside those any call can give. */
  errors: readonly ErrorCode[]
}

export type Endpoint = EndpointParts & { method: Method; path: string }

/** Describes one HTTP call, once: the server validates and serialises by it, both sides take their types from it. */
export function endpoint<
  const M extends Method,
  const P extends string,
  const E extends EndpointParts,
>(method: M, path: P, parts: E): E & { method: M; path: P } {
  return { method, path, ...parts }
}

type Part<E, K extends string> = E extends { [key in K]: infer S extends TSchema }
  ? Static<S>
  : undefined

/** What a call takes: each part of the request that its description names. */
export type Input<E> = {
  [K in 'params' | 'query' | 'headers' | 'body' as E extends { [key in K]: TSchema }
    ? K
    : never]: Part<E, K>
}
/** What a call answers with when it succeeds; undefined where there is no body. */
export type Answer<E> = Part<E, 'answer'>

/** An object that refuses unknown fields: a misspelt field must not pass in silence. */
export function strictObject<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}
