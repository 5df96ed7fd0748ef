import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who may call: `public` is everybody, except with an invalid bearer token; `user` needs the bearer token of a live session;
 * `cookie` needs the session cookie; `moderator` needs a moderator's token, and nobody else learns that the call exists.
 */
export type Access = 'public' | 'user' | 'cookie' | 'moderator'

/** Answers may come from the response cache, a second old at most; visitors get an ETag. */
export type CacheRule = {
  /** Values in the query that make the answer the viewer's own: such requests bypass the cache. */
  unless?: Record<string, string>
}

export type EndpointDescription = {
  access: Access
  /** One line for the OpenAPI document. */
  summary: string
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TObject
  /** Status of success, and the schema of its body, if there is one. */
  status: 200 | 201 | 204
  answer?: TSchema
  /** Turns the response cache on: the answers are posts, which differ between viewers only in their likes. */
  cache?: CacheRule
  /** Whether the call publishes something in the viewer's name: it is refused to users who are blocked. */
  publishes?: true
  /** Errors of this call, besides those that any call can return. */
  errors: readonly ErrorCode[]
}

export type Endpoint = EndpointDescription & { method: Method; path: string }

/** Describes one HTTP call: the server validates and serialises with it, and both sides derive their types from it. */
export function endpoint<
  const M extends Method,
  const P extends string,
  const E extends EndpointDescription,
>(method: M, path: P, description: E): E & { method: M; path: P } {
  return { method, path, ...description }
}

type Part<E, K extends string> = E extends { [key in K]: infer S extends TSchema }
  ? Static<S>
  : undefined

/** What a call takes: the parts of the request that its description names. */
export type Input<E> = {
  [K in 'params' | 'query' | 'headers' | 'body' as E extends { [key in K]: TSchema }
    ? K
    : never]: Part<E, K>
}
/** The body of a successful response; undefined where there is none. */
export type Answer<E> = Part<E, 'answer'>

/** An object that refuses unknown fields, so that a misspelt field is reported. */
export function strictObject<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
