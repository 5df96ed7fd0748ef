import { expect, test } from 'vitest'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { appForTest } from '../../testing/test-app.ts'

const SECURITY = {
  user: [{ bearer: [] }],
  moderator: [{ bearer: [] }],
  cookie: [{ cookie: [] }],
  public: [{}, { bearer: [] }],
}

test('the document describes the endpoints of the contract, with their success and who may call them, and no others', async () => {
  const app = await appForTest()
  const { paths } = (await app.call('GET', '/openapi.json')).body
  type Operation = { security: object[]; responses: object }
  const described = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, responses }]) => {
      const success = Object.keys(responses).filter((status) => status < '300')
      return [`${method} ${path}`, security, success]
    }),
  )
  const promised = [...(await allEndpoints()).values()].map(({ method, path, access, status }) => {
    const call = `${method.toLowerCase()} /api/v1${path.replace(/:(\w+)/g, '{$1}')}`
    return [call, SECURITY[access], [`${status}`]]
  })
  expect(described.sort()).toEqual(promised.sort())
})
