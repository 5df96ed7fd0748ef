import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `public` refuses only invalid tokens; a `moderator` call answers all other callers with 404. */
type Access = 'public' | 'user' | 'cookie' | 'moderator'

export type CacheRule = {
  /** Query parameters that make the answer personal and uncached; undefined means absent. */
  unless?: Record<string, string | undefined>
}

export type EndpointDescription = {
  access: Access
  summary: string
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TObject
  /** By default 200 with an `answer` and 204 without. */
  status?: 201
  answer?: TSchema
  /** Set if answers are cached; their posts differ between viewers only in `is_liked`. */
  cache?: CacheRule
  /** Set if a success sets or clears a cookie. */
  setsCookie?: true
  /** Whether the call refuses blocked users. */
  publishes?: true
  /** The call's own errors, besides the errors that any call can return. */
  errors?: readonly ErrorCode[]
}

type CallSignature<M extends Method, P extends string> = {
  method: M
  path: P
  status: 200 | 201 | 204
  errors: readonly ErrorCode[]
}
export type Endpoint = Omit<EndpointDescription, 'status'> & CallSignature<Method, string>

/** Describes a call: the server validates by it, and both sides take their types from it. */
export function endpoint<
  const M extends Method,
  const P extends string,
  const E extends EndpointDescription,
>(method: M, path: P, description: E): E & CallSignature<M, P> {
  return { method, path, status: description.answer ? 200 : 204, errors: [], ...description }
}

export function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'access' in value && 'path' in value
}

type Part<E, K extends string> = E extends { [key in K]: infer S extends TSchema }
  ? Static<S>
  : undefined

export type Input<E> = {
  [K in 'params' | 'query' | 'headers' | 'body' as E extends { [key in K]: TSchema }
    ? K
    : never]: Part<E, K>
}
export type Answer<E> = Part<E, 'answer'>

/** Creates an object schema that refuses unknown fields, so that a misspelt field is reported. */
export function strictObject<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

/** Returns a schema with a description, for a value whose name does not explain it. */
export function described<S extends TSchema>(schema: S, description: string): S {
  return Type.With(schema, { description }) as S
}

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
