import { expect, test } from 'vitest'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { allEndpoints } from '../../testing/endpoints.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

type Operation = {
  summary?: string
  security: Record<string, unknown>[]
  parameters?: { name: string; in: string }[]
  requestBody?: unknown
  responses: Record<string, unknown>
}

const SECURITY = {
  user: [{ bearer: [] }],
  moderator: [{ bearer: [] }],
  cookie: [{ cookie: [] }],
  public: [{}, { bearer: [] }],
}

const app = await appForFile()

/** Returns what the document states about an endpoint. */
function described({ method, access, summary, status, body, ...endpoint }: Endpoint) {
  const { params, query, headers } = endpoint
  const named = [params, query, headers].flatMap((part) => Object.keys(part?.properties ?? {}))
  if (method !== 'GET' && access !== 'cookie') named.push('x-user')
  const security = SECURITY[access]
  return { summary, security, parameters: named.sort(), hasBody: body !== undefined, status }
}

test('the document describes the endpoints of the contract, with parameters, body, success and who may call them, and no others', async () => {
  const { paths } = (await app.call('GET', '/openapi.json')).body
  const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  )
  const endpoints = new Map(
    [...(await allEndpoints()).values()].map((endpoint) => {
      const path = `/api/v1${endpoint.path.replace(/:(\w+)/g, '{$1}')}`
      return [`${endpoint.method.toLowerCase()} ${path}`, endpoint]
    }),
  )
  expect(operations.map(([name]) => name).sort()).toEqual([...endpoints.keys()].sort())
  for (const [name, { summary, security, parameters = [], ...operation }] of operations) {
    const endpoint = endpoints.get(name)
    if (!endpoint) throw new Error(name)
    const success = Object.keys(operation.responses).map(Number)
    expect(success, name).toContain(endpoint.status)
    const seen = {
      ...{ summary, security, status: endpoint.status },
      parameters: parameters.map((parameter) => parameter.name).sort(),
      hasBody: operation.requestBody !== undefined,
    }
    expect(seen, name).toEqual(described(endpoint))
  }
})

test('the document names the cookie that is actually set', async () => {
  const secure = await appForTest({ config: { publicUrl: 'https://vslukh.example' } })
  for (const [site, name] of [
    [app, 'session'],
    [secure, '__Host-session'],
  ] as const) {
    const { body } = await site.call('GET', '/openapi.json')
    expect(body.components.securitySchemes.cookie).toMatchObject({ in: 'cookie', name })
    expect((await site.signUp()).cookie).toMatch(new RegExp(`^${name}=`))
  }
})
