import { once } from 'node:events'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
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

test('/api/docs shows the document to people', async () => {
  const page = await fetch(`${app.url}/api/docs`)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  const html = await page.text()
  const [, script = ''] = /src="([^"]+swagger-ui-bundle\.js)"/.exec(html) ?? []
  const bundle = await fetch(new URL(script, page.url))
  expect(bundle.status).toBe(200)
  expect((await fetch(`${app.url}/api/docs/json`)).status).toBe(200)
})

test('/api/docs has the policy of every page, which names no foreign host and lets nobody frame it', async () => {
  const policyOf = async (path: string) =>
    (await fetch(app.url + path)).headers.get('content-security-policy')
  const policy = await policyOf('/api/docs')
  expect(policy).toBe(await policyOf('/'))
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/https:|\.io/)
})

test('/api/docs with all its files takes less than 700 KB', async () => {
  const html = await (await fetch(`${app.url}/api/docs`)).text()
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
  const sizes = ['/api/docs/json', ...files].map(async (path) => {
    // In two rounds: made, and made before.
    const bytes = await Promise.all([bytesOf(`${app.url}${path}`), bytesOf(`${app.url}${path}`)])
    expect(bytes[0]).toBe(bytes[1])
    expect(await (await fetch(`${app.url}${path}`)).text()).toMatch(/./)
    return bytes[0] ?? 0
  })
  const sum = (await Promise.all(sizes)).reduce((total, bytes) => total + bytes, 0)
  expect(sum).toBeGreaterThan(100_000)
  expect(sum).toBeLessThan(700_000)
})

test.each(['?x=1', '', '?%73'])(
  'a file of /api/docs is never sent uncompressed, however it is asked for: %s',
  async (end) => {
    const path = `${app.url}/api/docs/static/swagger-ui-bundle.js${end}`
    const plain = { 'accept-encoding': 'identity', range: 'bytes=0-9999999' }
    for (const url of [path, path.replace('static', '%73tatic')]) {
      expect(await bytesOf(url, plain)).toBeLessThan(600_000)
    }
  },
)

/** Returns how many bytes a body has on its way to a client that accepts gzip. */
async function bytesOf(
  url: string,
  headers: Record<string, string> = { 'accept-encoding': 'gzip' },
): Promise<number> {
  const sent = request(url, { headers }).end()
  const [answer] = await once(sent, 'response')
  return (await buffer(answer)).length
}
