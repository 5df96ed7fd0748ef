import { beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'
import { allEndpoints } from '../../testing/endpoints.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

type Answer = { content?: { 'application/json'?: { schema: Schema } } }
type Schema = { properties: { code: { enum: string[] } } }
type Operation = {
  summary?: string
  security: Record<string, unknown>[]
  parameters?: { name: string; in: string }[]
  requestBody?: unknown
  responses: Record<string, Answer>
}

const endpoints = await allEndpoints()

const app = await appForFile()
let paths: Record<string, Record<string, Operation>>
beforeAll(async () => {
  paths = (await app.call('GET', '/openapi.json')).body.paths
})

const pathOf = ({ path }: Endpoint) => `/api/v1${path.replace(/:(\w+)/g, '{$1}')}`
const operationOf = (endpoint: Endpoint) => paths[pathOf(endpoint)]?.[endpoint.method.toLowerCase()]

function isUserNamed({ method, access }: Endpoint): boolean {
  return method !== 'GET' && access !== 'cookie'
}

/** Returns the errors of an endpoint, derived from its description by the rules of the contract. */
function expectedRefusals(endpoint: Endpoint): ErrorCode[] {
  const { method, access, publishes, body, params, query, errors } = endpoint
  return [
    ...errors,
    'TOO_MANY_REQUESTS',
    'INTERNAL_ERROR',
    'UNAVAILABLE',
    ...(access === 'cookie' ? [] : (['UNAUTHORIZED'] as const)),
    ...(publishes ? (['BLOCKED'] as const) : []),
    ...(access === 'moderator' ? (['NOT_FOUND'] as const) : []),
    ...(body || params || query ? (['INVALID_REQUEST'] as const) : []),
    ...(method === 'GET' ? [] : (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(isUserNamed(endpoint) ? (['OTHER_ACCOUNT'] as const) : []),
  ]
}

test('the document describes the endpoints of the contract and no others', () => {
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const contracted = [...endpoints.values()].map(
    (endpoint) => `${endpoint.method} ${pathOf(endpoint)}`,
  )
  expect(described.sort()).toEqual(contracted.sort())
})

describe.each([...endpoints])('%s', (_name, endpoint) => {
  test('is described with its summary, success, parameters, body and who may call it', () => {
    const operation = operationOf(endpoint)
    expect(operation?.summary).toBe(endpoint.summary)
    expect(Object.keys(operation?.responses ?? {})).toContain(String(endpoint.status))
    expect(operation?.requestBody !== undefined).toBe(endpoint.body !== undefined)
    const { params, query, headers } = endpoint
    const named = [params, query, headers].flatMap((part) => Object.keys(part?.properties ?? {}))
    if (isUserNamed(endpoint)) named.push('x-user')
    expect((operation?.parameters ?? []).map(({ name }) => name).sort()).toEqual(named.sort())
    const security = {
      user: [{ bearer: [] }],
      moderator: [{ bearer: [] }],
      cookie: [{ cookie: [] }],
      public: [{}, { bearer: [] }],
    }
    expect(operation?.security).toEqual(security[endpoint.access])
  })

  test('is described with every error it can answer with, by code', () => {
    const responses = operationOf(endpoint)?.responses ?? {}
    for (const code of expectedRefusals(endpoint)) {
      const schema = responses[ERRORS[code].status]?.content?.['application/json']?.schema
      expect(schema?.properties.code.enum, code).toContain(code)
    }
  })
})

test.each([
  [undefined, 'session'],
  ['https://vslukh.example', '__Host-session'],
])(
  'with PUBLIC_URL %s the document names the cookie that is actually set: %s',
  async (publicUrl, name) => {
    const site = await appForTest({ config: { publicUrl } })
    const { body } = await site.call('GET', '/openapi.json')
    expect(body.components.securitySchemes.cookie).toMatchObject({ in: 'cookie', name })
    expect((await site.signUp()).cookie).toMatch(new RegExp(`^${name}=`))
  },
)

test.each([
  ['gzip', 'gzip'],
  ['identity', null],
])('to a client that accepts %s the document is sent as %s', async (accepted, encoding) => {
  const headers = { 'accept-encoding': accepted }
  const answer = await fetch(`${app.url}/api/v1/openapi.json`, { headers })
  expect(answer.headers.get('content-encoding')).toBe(encoding)
  expect(await answer.json()).toMatchObject({ paths })
})
