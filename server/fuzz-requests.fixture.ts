import fc from 'fast-check'
import {
  brokenObject,
  fitting,
  fittingObject,
  hostileString,
  KNOWN,
  type Schema,
} from './fuzz-values.fixture.ts'

type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  security: Record<string, unknown>[]
}
export type OpenApi = { paths: Record<string, Record<string, Operation>> }

/** Who sends it: a visitor, a live session, a closed session, or a client with a forged token. */
type Sender = 'visitor' | 'live' | 'closed' | 'forged'
export type FuzzRequest = {
  method: string
  /** The path in the OpenAPI document. */
  template: string
  /** Whether only the session cookie admits a caller. */
  takesCookie: boolean
  needsUser: boolean
  sender: Sender
  /** Path and query, with `$names` for values that only the running test knows. */
  target: string
  headers: Record<string, string>
  body: Uint8Array | undefined
}

/** What a request may have wrong: mostly one part, since one that is wrong everywhere is refused too early. */
const MISTAKES = ['nothing', 'nothing', 'path', 'query', 'headers', 'body', 'everything']
const SENDERS: Sender[] = ['visitor', 'live', 'live', 'live', 'closed', 'forged']

/** Requests to every endpoint, right and wrong, from every sender. */
export function requestsFor({ paths }: OpenApi): fc.Arbitrary<FuzzRequest> {
  const all = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      requestOf(method.toUpperCase(), template, operation),
    ),
  )
  return fc.oneof(...all)
}

function requestOf(method: string, template: string, operation: Operation) {
  const { parameters = [], requestBody, security } = operation
  const named = (where: Parameter['in']) => parameters.filter((parameter) => parameter.in === where)
  const schema = requestBody?.content['application/json'].schema
  const needsUser = security.every((way) => Object.keys(way).length > 0)
  const takesCookie = needsUser && !security.some((way) => 'bearer' in way)
  return fc
    .constantFrom(...MISTAKES)
    .chain((wrong) => {
      const is = (part: string) => wrong === part || wrong === 'everything'
      const path = named('path').map((one) => (is('path') ? wildPart : plainPart(one, template)))
      return fc.record({
        sender: fc.constantFrom(...SENDERS),
        path: fc.tuple(...path),
        query: queryOf(named('query'), is('query')),
        headers: headersOf(named('header'), {
          hasBody: schema !== undefined,
          wrong: is('headers'),
        }),
        body: method === 'GET' ? fc.constant(undefined) : bodyOf(schema, is('body')),
      })
    })
    .map(({ path, query, ...rest }): FuzzRequest => {
      let next = 0
      const filled = template.replace(/\{\w+\}/g, () => path[next++] ?? '')
      return { method, template, takesCookie, needsUser, target: filled + query, ...rest }
    })
}

function plainPart({ name, schema }: Parameter, template: string): fc.Arbitrary<string> {
  const apt = fc.constantFrom(...fittingIds(template))
  return fc
    .oneof(
      { weight: 2, arbitrary: name === 'id' ? apt : fitting(name, schema) },
      { weight: 1, arbitrary: fc.constantFrom(...KNOWN) },
    )
    .map(String)
}

const wildPart: fc.Arbitrary<string> = fc.oneof(
  hostileString.map((text) => encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E')),
  fc.constantFrom('%', '%zz', '%ff', '%c0%af', '%00', 'a%00b', '%2e%2e', '%2F', '"', ';a=b'),
)

function fittingIds(template: string): string[] {
  if (/\/(?:verify|mail)$/.test(template)) return ['$operation']
  if (template.endsWith('/undo')) return ['$change']
  return template.includes('/sessions/') ? ['$session'] : ['$post', '$own']
}

function queryOf(parameters: Parameter[], isWrong: boolean): fc.Arbitrary<string> {
  const right = parameters.map(({ name, schema, required }) =>
    fc
      .option(fitting(name, schema), { nil: undefined, freq: required ? 20 : 1 })
      .map((value) => (value === undefined ? [] : [`${name}=${encode(String(value))}`])),
  )
  const names = parameters.map(({ name }) => name)
  const field = fc
    .tuple(fc.constantFrom(...names, 'extra', '__proto__'), hostileString)
    .map(([name, value]) => `${name}=${encode(value)}`)
  const odd = fc.constantFrom('=', '&&', 'page', '%', 'limit[]=1')
  const wrong = fc.array(fc.oneof(field, odd), { minLength: 1, maxLength: 2 })
  return fc
    .tuple(fc.tuple(...right), isWrong ? wrong : fc.constant([]))
    .map(([fields, more]) => [...fields.flat(), ...more].join('&'))
    .map((query) => (query === '' ? '' : `?${query}`))
}

/** Encodes a value as a browser does, but leaves the `$` of a known name. */
function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(/^%24/, '$')
}

type HeaderOptions = { hasBody: boolean; wrong: boolean }

function headersOf(parameters: Parameter[], { hasBody, wrong }: HeaderOptions) {
  const usual = hasBody ? ['application/json'] : ['application/json', '']
  const odd = ['application/json; charset=utf-8', 'text/plain', 'application/x', '']
  const values = fc.constantFrom('', 'same', 'x'.repeat(200), '\u00ff')
  const named = Object.fromEntries(
    parameters.map(({ name, schema }) => [
      name,
      wrong ? values : fitting(name, schema).map(String),
    ]),
  )
  const type = fc.constantFrom(...(wrong ? odd : usual))
  return fc
    .record({ ...named, 'content-type': type }, { requiredKeys: ['content-type'] })
    .map((headers): Record<string, string> => {
      const { 'content-type': contentType, ...rest } = headers
      return { ...rest, ...(contentType && { 'content-type': contentType }) }
    })
}

function bodyOf(
  schema: Schema | undefined,
  isWrong: boolean,
): fc.Arbitrary<Uint8Array | undefined> {
  const asJson = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
  if (!isWrong) return schema ? fittingObject(schema).map(asJson) : fc.constant(undefined)
  const texts = fc.constantFrom('{', '{"text":"\\ud800"}', '', ' '.repeat(16_385))
  const wild = fc.oneof(
    fc.oneof(fc.json(), texts).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }),
    fc.constant(undefined),
  )
  if (!schema) return wild
  return fc.oneof({ weight: 2, arbitrary: brokenObject(schema).map(asJson) }, wild)
}
