import type { SchemaObject } from 'ajv'
import fc from 'fast-check'

type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: SchemaObject
}
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: SchemaObject } } }
  security: Record<string, unknown>[]
}
type OpenApi = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, SchemaObject> }
}

export type FuzzRequest = {
  method: string
  /** The path in the OpenAPI document. */
  template: string
  /** Whether only the session cookie admits a caller. */
  takesCookie: boolean
  needsUser: boolean
  sender: 'visitor' | 'live' | 'closed' | 'forged'
  /** Path and query, with `$names` for values that only the running test knows, as in the body. */
  target: string
  headers: Record<string, string>
  body: string | undefined
}

const KNOWN = ['$post', '$own', '$reply', '$gone', '$session', '$operation', '$username', '$id']

const HOSTILE = [
  ...['', 'a\u0000b', '\r\nSet-Cookie: a=b', '\u202eabc\u202c', `a${'\u0301'.repeat(300)}`],
  ...['😀'.repeat(501), "'; DROP TABLE posts; --", '../../etc/passwd', '%00', '__proto__', 'null'],
  ...['-1', '1e9', '9223372036854775808', 'x'.repeat(5000), '\u200b'],
]

const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 600 }),
)

/** Values that a real client would send under these names. */
const USUAL: Record<string, fc.Arbitrary<string>> = {
  email: fc.oneof(fc.constant('$email'), fc.emailAddress({ size: 'small' })),
  clientToken: fc.constantFrom('$clientToken', '$clientToken', 'another client'),
  confirmCode: fc.constantFrom('$code', '$code', '000000', '123456'),
  text: fc.oneof(
    fc.lorem(),
    fc.constant('Спросите @$username'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }),
  ),
  username: fc.oneof(fc.constant('$username'), fc.stringMatching(/^[A-Za-z0-9_]{5,32}$/)),
  id: fc.constantFrom(...KNOWN),
  start: fc.stringMatching(/^[A-Za-z0-9_]{2,6}$/),
  postId: fc.constantFrom(...KNOWN),
  userId: fc.constantFrom('$id', '999999999'),
  cursor: fc.constantFrom('$post', '1', '5', '999999999'),
  reason_id: fc.constantFrom('1', '2', '8', '99'),
  page: fc.oneof(fc.nat(5), fc.nat()).map(String),
}

/** Requests to every endpoint, right and wrong, from every sender. */
export function requestsFor(document: OpenApi): fc.Arbitrary<FuzzRequest> {
  const { paths } = withoutReferences(document)
  const all = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      requestOf(method.toUpperCase(), template, operation),
    ),
  )
  return fc.oneof(...all)
}

/** Returns the document with each named schema written out wherever it is referred to. */
function withoutReferences(document: OpenApi): OpenApi {
  const text = JSON.stringify(document, (_, value) => {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(value?.$ref) ?? []
    return name === undefined ? value : document.components.schemas[name]
  })
  return JSON.parse(text)
}

/** Is right eight times of nine, because a request with several wrong parts is refused at the first. */
function mostly<T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: wrong })
}

function requestOf(method: string, template: string, operation: Operation) {
  const { parameters = [], requestBody, security } = operation
  const named = (where: Parameter['in']) => parameters.filter((parameter) => parameter.in === where)
  const needsUser = security.every((way) => Object.keys(way).length > 0)
  const takesCookie = needsUser && !security.some((way) => 'bearer' in way)
  const schema = requestBody?.content['application/json'].schema
  return fc
    .record({
      sender: fc.constantFrom('visitor', 'live', 'live', 'live', 'closed', 'forged'),
      path: fc.tuple(...named('path').map((parameter) => partOf(parameter, template))),
      query: queryOf(named('query')),
      headers: headersOf(named('header')),
      body: method === 'GET' ? fc.constant(undefined) : bodyOf(schema),
    })
    .map(({ path, query, ...rest }): FuzzRequest => {
      const filled = path.reduce((all, part) => all.replace(/\{\w+\}/, () => part), template)
      const target = query === '' ? filled : `${filled}?${query}`
      return { method, template, takesCookie, needsUser, target, ...rest }
    })
}

function partOf({ name, schema }: Parameter, template: string): fc.Arbitrary<string> {
  const apt = name === 'id' ? fc.constantFrom(...idsFor(template)) : fitting(name, schema)
  return mostly(
    fc.oneof(apt, apt, fc.constantFrom(...KNOWN)).map(String),
    fc.oneof(
      hostile.map((text) => encodeURIComponent(text.toWellFormed())),
      fc.constantFrom('%', '%zz', '%ff', '%c0%af', '%00', 'a%00b', '%2F', '"', ';a=b'),
    ),
  )
}

function idsFor(template: string): string[] {
  if (/\/(?:verify|mail)$/.test(template)) return ['$operation']
  if (template.endsWith('/undo')) return ['00000000-0000-4000-8000-000000000000']
  return template.includes('/sessions/') ? ['$session'] : ['$post', '$own']
}

function queryOf(parameters: Parameter[]): fc.Arbitrary<string> {
  const schema = {
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.flatMap(({ name, required }) => (required ? [name] : [])),
  }
  const query = mostly(fittingObject(schema), brokenObject(schema))
    .map((values) => Object.entries(values).map(([name, value]) => `${name}=${encode(value)}`))
    .map((all) => all.join('&'))
  const wrong = fc.constantFrom('=', '&&', 'page', '%', 'limit[]=1')
  const both = fc.tuple(query, wrong).map((parts) => parts.join('&'))
  return mostly(query, both)
}

/** Encodes a value as a browser does, but leaves the `$` of a known name. */
function encode(value: unknown): string {
  // A generated object may have a field `toString`, which is no function.
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return encodeURIComponent(text.toWellFormed()).replace(/^%24/, '$')
}

function headersOf(parameters: Parameter[]): fc.Arbitrary<Record<string, string>> {
  const right = parameters.map(({ name, schema }) => [name, fitting(name, schema).map(String)])
  const odd = fc.constantFrom('', 'same', 'x'.repeat(200), '\u00ff')
  const types = fc.record({ 'content-type': fc.constantFrom('text/plain', 'x/y', '') })
  const wrong = parameters.map(({ name }) => fc.record({ [name]: odd }))
  return mostly(
    fc.oneof(fc.constant({}), fc.record(Object.fromEntries(right))),
    fc.oneof(types, ...wrong),
  )
}

function bodyOf(schema: SchemaObject | undefined): fc.Arbitrary<string | undefined> {
  const asJson = (value: unknown) => JSON.stringify(value)
  return mostly(
    schema ? fittingObject(schema).map(asJson) : fc.constant(undefined),
    fc.oneof(
      schema ? brokenObject(schema).map(asJson) : fc.json(),
      fc.json(),
      fc.constantFrom('{', '{"text":"\\ud800"}', '', ' '.repeat(16_385), undefined),
    ),
  )
}

function fitting(name: string, schema: SchemaObject): fc.Arbitrary<unknown> {
  if (schema.properties) return fittingObject(schema)
  const usual = USUAL[name]
  if (usual) return usual
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const { minimum: min = 0, maximum: max = 2 ** 31 - 1, minLength = 0, maxLength = 50 } = schema
  if (schema.type === 'integer') return fc.integer({ min, max })
  const pattern = new RegExp(schema.pattern ?? '', 'u')
  return fc
    .string({ unit: 'grapheme-ascii', minLength, maxLength })
    .filter((value) => pattern.test(value))
}

/** Generates objects with every required field and some of the others. */
function fittingObject({ properties = {}, required = [] }: SchemaObject) {
  const schemas = Object.entries<SchemaObject>(properties)
  const fields = schemas.map(([name, schema]) => [name, fitting(name, schema)])
  return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: required })
}

/** Generates objects with exactly one wrong, missing or extra field. */
function brokenObject(schema: SchemaObject): fc.Arbitrary<object> {
  const names = Object.keys(schema.properties ?? {})
  return fc
    .tuple(
      fittingObject(schema),
      fc.constantFrom(...names, 'extra', '__proto__', 'constructor'),
      fc.oneof(fc.jsonValue(), hostile, fc.constant(undefined)),
    )
    .map(([object, field, value]) =>
      // In JSON, `__proto__` is an ordinary field.
      Object.fromEntries([...Object.entries(object), [field, value]]),
    )
}
