import fc from 'fast-check'
import {
  brokenObject,
  fitting,
  fittingObject,
  hostileString,
  KNOWN,
  type Schema,
} from './fuzz-values.ts'

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

/** Who sends it: nobody, a live session, one that was closed, or a made-up token. */
export type Sender = 'visitor' | 'live' | 'closed' | 'forged'
export type Access = 'user' | 'public' | 'cookie'
export type FuzzRequest = {
  method: string
  /** The path as the document has it. */
  template: string
  access: Access
  sender: Sender
  /** Path and query, with `$names` of what the running test knows. */
  target: string
  /** Whether each path parameter is one that can be routed at all. */
  isRoutable: boolean
  headers: Record<string, string>
  body: Uint8Array | undefined
}

type Part = { value: string; isPlain: boolean }

/** Random requests, right and wrong ones, for every operation of the document alike. */
export function requestsFor({ paths }: OpenApi): fc.Arbitrary<FuzzRequest> {
  const all = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      requestOf(template, method.toUpperCase(), operation),
    ),
  )
  return fc.oneof(...all)
}

function requestOf(template: string, method: string, operation: Operation) {
  const parameters = operation.parameters ?? []
  const named = (where: Parameter['in']) => parameters.filter((parameter) => parameter.in === where)
  const schema = operation.requestBody?.content['application/json'].schema
  return fc
    .record({
      sender: fc.constantFrom<Sender[]>('visitor', 'live', 'live', 'live', 'closed', 'forged'),
      path: fc.tuple(...named('path').map((parameter) => pathPart(parameter, template))),
      query: queryOf(named('query')),
      headers: headersOf(named('header'), schema !== undefined),
      body: method === 'GET' ? fc.constant(undefined) : bodyOf(schema),
    })
    .map(({ path, query, ...rest }): FuzzRequest => {
      let next = 0
      const filled = template.replace(/\{\w+\}/g, () => path[next++]?.value ?? '')
      const isRoutable = path.every(({ isPlain }) => isPlain)
      const access = accessOf(operation)
      return { method, template, access, target: filled + query, isRoutable, ...rest }
    })
}

function accessOf({ security }: Operation): Access {
  if (security.some((way) => Object.keys(way).length === 0)) return 'public'
  return security.some((way) => 'bearer' in way) ? 'user' : 'cookie'
}

function pathPart({ name, schema }: Parameter, template: string): fc.Arbitrary<Part> {
  const apt = fc.constantFrom(...aptIds(template))
  const plain = fc.oneof(
    { weight: 2, arbitrary: name === 'id' ? apt : fitting(name, schema) },
    { weight: 1, arbitrary: fc.constantFrom(...KNOWN) },
  )
  const wild = fc.oneof(
    hostileString.map((text) => encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E')),
    fc.constantFrom('%', '%zz', '%ff', '%c0%af', '%00', '%2e%2e', '%2F', '"', '[]', ';a=b'),
  )
  return fc.oneof(
    { weight: 4, arbitrary: plain.map((value) => ({ value: String(value), isPlain: true })) },
    { weight: 1, arbitrary: wild.map((value) => ({ value, isPlain: false })) },
  )
}

/** What an id in this path would name. */
function aptIds(template: string): string[] {
  if (template.endsWith('/verify')) return ['$operation']
  return template.includes('/sessions/') ? ['$session'] : ['$post', '$own']
}

function queryOf(parameters: Parameter[]): fc.Arbitrary<string> {
  const right = parameters.map(({ name, schema, required }) =>
    fc
      .option(fitting(name, schema), { nil: undefined, freq: required ? 20 : 1 })
      .map((value) =>
        value === undefined
          ? []
          : [`${name}=${encodeURIComponent(String(value)).replaceAll('%24', '$')}`],
      ),
  )
  const name = fc.constantFrom(
    ...parameters.map((parameter) => parameter.name),
    'extra',
    '__proto__',
  )
  const wrong = fc
    .tuple(name, hostileString)
    .map(([key, value]) => `${key}=${encodeURIComponent(value.toWellFormed())}`)
  const extra = fc.array(fc.oneof(wrong, fc.constantFrom('=', '&&', 'page', '%', 'limit[]=1')), {
    maxLength: 2,
  })
  return fc
    .tuple(fc.tuple(...right), fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, extra))
    .map(([fields, more]) => [...fields.flat(), ...more].join('&'))
    .map((query) => (query === '' ? '' : `?${query}`))
}

function headersOf(parameters: Parameter[], hasBody: boolean) {
  const type = fc.constantFrom('application/json; charset=utf-8', 'text/plain', 'application/x', '')
  const json = hasBody ? fc.constant('application/json') : fc.constantFrom('application/json', '')
  const named = Object.fromEntries(
    parameters.map(({ name, schema }) => [
      name,
      fc.oneof(
        fitting(name, schema).map(String),
        fc.constantFrom('', 'same', 'x'.repeat(200), '\u00ff'),
      ),
    ]),
  )
  return fc
    .record(
      { ...named, 'content-type': fc.oneof({ weight: 9, arbitrary: json }, type) },
      { requiredKeys: ['content-type'] },
    )
    .map((headers) => {
      const set = Object.entries(headers).filter(
        ([name, value]) => name !== 'content-type' || value,
      )
      return Object.fromEntries(set) as Record<string, string>
    })
}

function bodyOf(schema: Schema | undefined): fc.Arbitrary<Uint8Array | undefined> {
  const asJson = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
  const wild = fc.oneof(
    fc.json().map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom('{', '{"text":"\\ud800"}', '', ' '.repeat(16_385))
      .map((text) => Buffer.from(text)),
  )
  const nothing = { weight: 1, arbitrary: fc.constant(undefined) }
  if (!schema)
    return fc.oneof({ weight: 4, arbitrary: nothing.arbitrary }, { weight: 1, arbitrary: wild })
  return fc.oneof(
    { weight: 6, arbitrary: fittingObject(schema).map(asJson) },
    { weight: 3, arbitrary: brokenObject(schema).map(asJson) },
    { weight: 1, arbitrary: wild },
    nothing,
  )
}
