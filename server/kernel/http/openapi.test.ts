import { expect, test } from 'vitest'
import { POST_TEXT_MAX } from '../../../contract/constants.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { appForTest } from '../../testing/test-app.ts'
import { describeContract } from './openapi.ts'

const SECURITY = {
  user: [{ bearer: [] }],
  moderator: [{ bearer: [] }],
  cookie: [{ cookie: [] }],
  public: [{}, { bearer: [] }],
}
const PUBLIC_URL = 'https://wall.example'

type Parameter = { name: string; description?: string; schema: object }
type Schema = {
  $ref?: string
  type?: string
  enum?: string[]
  description?: string
  properties?: Record<string, Schema>
}
type Content = { content?: { 'application/json': { schema: Schema } } }
type Answer = Content & { headers?: object }
type Operation = {
  operationId: string
  security: object[]
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Answer>
}
type Document = {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = describeContract({
  appName: 'Вслух',
  cookieName: 'session',
  publicUrl: PUBLIC_URL,
}) as unknown as Document
const { schemas } = document.components

const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation]),
  ),
)

/** Calls `see` for each object in the document, with its path. */
function walk(value: unknown, see: (part: Schema, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  see(value as Schema, path)
  for (const [name, part] of Object.entries(value)) walk(part, see, `${path}/${name}`)
}

function successOf(call: string): Schema | undefined {
  const { responses = {} } = operations.get(call) ?? {}
  return (responses[200] ?? responses[201])?.content?.['application/json'].schema
}

test('the document describes the endpoints of the contract, with their success and who may call them, and no others', async () => {
  const described = [...operations].map(([call, { operationId, security, responses }]) => {
    const success = Object.keys(responses).filter((status) => status < '300')
    return [call, operationId, security, success]
  })
  const promised = [...(await allEndpoints()).values()].map(
    ({ exportedAs, method, path, access, status }) => {
      const call = `${method.toLowerCase()} /api/v1${path.replace(/:(\w+)/g, '{$1}')}`
      return [call, exportedAs, SECURITY[access], [`${status}`]]
    },
  )
  expect(described.sort()).toEqual(promised.sort())
})

test('a wall serves the document with its own address, or as relative to it', async () => {
  const named = await appForTest({ config: { publicUrl: PUBLIC_URL } })
  expect((await named.read('/openapi.json')).servers).toEqual([{ url: PUBLIC_URL }])
  const unnamed = await appForTest()
  expect((await unnamed.read('/openapi.json')).servers).toEqual([{ url: '/' }])
})

test.each([
  ['get /api/v1/posts/{id}', 'Post'],
  ['post /api/v1/posts', 'Post'],
  ['get /api/v1/posts', 'PostPage'],
  ['get /api/v1/posts/{id}/replies', 'PostPage'],
  ['get /api/v1/posts/replies/received', 'ReceivedRepliesPage'],
  ['get /api/v1/profiles/{username}', 'Profile'],
  ['get /api/v1/users/current', 'OwnAccount'],
  ['patch /api/v1/sessions/current', 'AccessTokenAnswer'],
])('the answer of %s is the schema %s', (call, name) => {
  expect(successOf(call)).toEqual({ $ref: `#/components/schemas/${name}` })
  expect(schemas[name]?.properties).toBeTypeOf('object')
})

test('every shape that has a name stands in the document once', () => {
  const isShape = ([, part]: [string, Schema]) => part.properties !== undefined
  const named = new Map(
    Object.entries(schemas)
      .filter(isShape)
      .map(([name, part]) => [shapeOf(part), name]),
  )
  const again: string[] = []
  walk(document, (part, path) => {
    const name = part.properties && named.get(shapeOf(part))
    const isRequest = path.includes('/requestBody/')
    if (name && path !== `/components/schemas/${name}` && !isRequest) again.push(`${path}: ${name}`)
  })
  expect(again).toEqual([])
})

const shapeOf = ({ properties }: Schema) => JSON.stringify(properties)

test('every reference leads somewhere, and every enumeration has a type', () => {
  const wrong: string[] = []
  walk(document, ({ $ref, enum: values, type }, path) => {
    if (typeof $ref === 'string' && !valueAt($ref)) wrong.push(`${path} refers to ${$ref}`)
    if (Array.isArray(values) && type !== 'string') wrong.push(`${path} has no type`)
  })
  expect(wrong).toEqual([])
})

function valueAt(reference: string): unknown {
  const names = reference.replace('#/', '').split('/')
  return names.reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], document)
}

test('each answer names the headers that a client needs', () => {
  const headersOf = (call: string, status: number) =>
    Object.keys(operations.get(call)?.responses[status]?.headers ?? {})
  for (const call of operations.keys()) {
    expect([call, headersOf(call, 429)]).toEqual([call, ['Retry-After']])
    expect([call, headersOf(call, 503)]).toEqual([call, ['Retry-After']])
  }
  expect(headersOf('get /api/v1/posts/{id}', 200)).toEqual(['ETag'])
  expect(headersOf('post /api/v1/logins/{id}/verify', 200)).toEqual(['Set-Cookie'])
  expect(headersOf('delete /api/v1/sessions/current', 204)).toEqual(['Set-Cookie'])
})

test('what a name does not say, a description does', () => {
  const bodyOf = (call: string) =>
    operations.get(call)?.requestBody?.content?.['application/json'].schema.properties ?? {}
  const isDescribed = (part: Schema | Parameter | undefined) => (part?.description ?? '') !== ''
  expect(bodyOf('post /api/v1/posts').text?.description).toContain(`${POST_TEXT_MAX}`)
  const verify = bodyOf('post /api/v1/logins/{id}/verify')
  expect([verify.clientToken, verify.restore].every(isDescribed)).toBe(true)
  const odd = ['cursor', 'page', 'limit', 'idempotency-key', 'x-user', 'q', 'reason_id']
  const undescribed = [...operations.values()]
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => odd.includes(parameter.name) && !isDescribed(parameter))
  expect(undescribed).toEqual([])
  walk(document, ({ properties = {} }, path) => {
    for (const [name, part] of Object.entries(properties)) {
      const isTime = part.type === 'integer' && /(?:_at|At)$/.test(name)
      if (isTime && !isDescribed(part)) expect.fail(`${path}/${name} has no unit`)
    }
  })
})
