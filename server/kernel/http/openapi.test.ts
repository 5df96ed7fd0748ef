import { expect, test } from 'vitest'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { appForTest } from '../../testing/test-app.ts'

type Operation = {
  summary: string
  security: object[]
  parameters?: { name: string }[]
  requestBody?: object
  responses: object
}

const SECURITY = {
  user: [{ bearer: [] }],
  moderator: [{ bearer: [] }],
  cookie: [{ cookie: [] }],
  public: [{}, { bearer: [] }],
}

/** Returns what the document should state about an endpoint. */
function promiseOf({ method, access, summary, status, body, path, ...endpoint }: Endpoint) {
  const { params, query, headers } = endpoint
  const parameters = [params, query, headers].flatMap((part) => Object.keys(part?.properties ?? {}))
  if (method !== 'GET' && access !== 'cookie') parameters.push('x-user')
  return {
    call: `${method.toLowerCase()} /api/v1${path.replace(/:(\w+)/g, '{$1}')}`,
    ...{ summary, security: SECURITY[access], parameters: parameters.sort() },
    ...{ hasBody: body !== undefined, success: [status] },
  }
}

test('the document describes the endpoints of the contract, with parameters, body, success and who may call them, and no others', async () => {
  const app = await appForTest()
  const { paths } = (await app.call('GET', '/openapi.json')).body
  const described = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { summary, security, parameters = [], ...operation }]) => ({
        call: `${method} ${path}`,
        ...{ summary, security, parameters: parameters.map(({ name }) => name).sort() },
        hasBody: operation.requestBody !== undefined,
        success: Object.keys(operation.responses)
          .map(Number)
          .filter((status) => status < 300),
      }),
    ),
  )
  const promised = [...(await allEndpoints()).values()].map(promiseOf)
  const byCall = (one: { call: string }, other: { call: string }) =>
    one.call.localeCompare(other.call)
  expect(described.sort(byCall)).toEqual(promised.sort(byCall))
})
