import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLane } from './fuzz-lane.fixture.ts'
import { type FuzzRequest, requestsFor } from './fuzz-requests.fixture.ts'
import { createOpenApiCheck } from './testing/openapi-check.ts'
import { appForFile } from './testing/test-app.ts'

/** FUZZ_RUNS sets the number of requests, FUZZ_SEED repeats a run. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 500)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const LANES = 6

const app = await appForFile({ config: { logLevel: 'error', rateLimitScale: 1e6 } })

test(
  `${RUNS} random requests, right and wrong, from visitors, users and closed sessions: no 5xx, no answer that the OpenAPI document does not describe, no secured call that serves a stranger (seed ${SEED})`,
  async () => {
    const { body: document } = await app.call('GET', '/openapi.json')
    const requests = requestsFor(document)
    const isDescribed = createOpenApiCheck(app.http)
    const served = new Set<string>()
    const statuses = new Set<number>()

    async function fuzz(seed: number): Promise<void> {
      const lane = await openLane(app)
      const property = fc.asyncProperty(requests, async (request) => {
        const { method, template } = request
        const { status, body } = await lane.send(request)
        statuses.add(status)
        if (status < 300) served.add(`${method} ${template}`)
        isDescribed({ method, path: template.replace(/\{\w+\}/g, 'x'), status, body })
        expect(status).toBeLessThan(500)
        expectGuarded(request, status)
      })
      await fc.assert(property, { numRuns: Math.ceil(RUNS / LANES), seed }).finally(lane.close)
    }

    await Promise.all(Array.from({ length: LANES }, (_, lane) => fuzz(SEED + lane)))
    expect(app.logged.filter((line) => line.includes('request failed'))).toEqual([])
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 415]))
    // Requests that nothing serves would show little; in a few runs chance leaves some out.
    if (RUNS >= 3000) expect(served.size).toBeGreaterThan(40)
  },
  60_000 + RUNS * 60,
)

/** A forged or closed session serves nothing, and a call that needs a user serves no visitor. */
function expectGuarded({ sender, needsUser }: FuzzRequest, status: number): void {
  if (sender === 'live' || (sender === 'visitor' && !needsUser)) return
  expect(status).toBeGreaterThanOrEqual(400)
}
