import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLane } from './fuzz-lane.fixture.ts'
import {
  type FuzzRequest,
  type OpenApi,
  requestsFor,
  usualRequestsFor,
} from './fuzz-requests.fixture.ts'
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
    const seen = new Set<string>()

    async function fuzz(seed: number): Promise<void> {
      const lane = await openLane(app)
      const property = fc.asyncProperty(requests, async (request) => {
        const { status, body } = await lane.send(request)
        const { method, template } = request
        seen.add(`${method} ${template} ${status}`)
        const path = template.replace(/\{\w+\}/g, 'x')
        isDescribed({ method, path, status, body })
        expect(status).toBeLessThan(500)
        expectGuarded(request, { status, code: (body as { code?: string } | undefined)?.code })
      })
      try {
        await fc.assert(property, { numRuns: Math.ceil(RUNS / LANES), seed })
        const { token, cookie, clientToken } = lane.closed
        expect((await app.call('GET', '/sessions', { token })).status).toBe(401)
        const refresh = { body: { clientToken }, headers: { cookie } }
        expect((await app.call('PATCH', '/sessions/current', refresh)).status).toBe(401)
      } finally {
        lane.close()
      }
    }

    await Promise.all(Array.from({ length: LANES }, (_, lane) => fuzz(SEED + lane)))
    expect(app.logged.filter((line) => line.includes('request failed'))).toEqual([])
    // Too few runs leave too many endpoints to chance.
    if (RUNS >= 3000) expect(await unserved(document, seen)).toEqual([])
    const statuses = new Set([...seen].map((call) => Number(call.split(' ').at(-1))))
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 415]))
  },
  60_000 + RUNS * 60,
)

/** Expects UNAUTHORIZED for callers without a live session where the endpoint needs one, and never for a live session. */
function expectGuarded(request: FuzzRequest, answer: { status: number; code: string | undefined }) {
  const { access, sender, isRoutable, template } = request
  if (access === 'cookie') {
    if (sender !== 'live') expect(answer.status).toBeGreaterThanOrEqual(400)
  } else if (sender === 'live') {
    expect(answer.code).not.toBe('UNAUTHORIZED')
  } else if (template.includes('/moderation/') && sender === 'visitor') {
    expect(['NOT_FOUND', 'INVALID_REQUEST']).toContain(answer.code)
  } else if (access === 'user' || sender !== 'visitor') {
    const codes = isRoutable ? ['UNAUTHORIZED'] : ['UNAUTHORIZED', 'NOT_FOUND', 'INVALID_REQUEST']
    expect(codes).toContain(answer.code)
  }
}

const SERVED = [200, 201, 204]

/** Calls of moderators, whom an operator has to name, and of authors of removed posts. */
const NEEDS_MORE = /\/moderation\/|\/appeal$/

/**
 * Returns the other endpoints that serve nobody: no random request, and none of 200 that a live user
 * might send.
 */
async function unserved(document: OpenApi, seen: Set<string>): Promise<string[]> {
  const left: string[] = []
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const method of Object.keys(operations)) {
      const call = `${method.toUpperCase()} ${template}`
      if (NEEDS_MORE.test(template)) continue
      if (SERVED.some((status) => seen.has(`${call} ${status}`))) continue
      if (!(await servesLiveUser(document, template, method))) left.push(call)
    }
  }
  return left
}

async function servesLiveUser(document: OpenApi, template: string, method: string) {
  const lane = await openLane(app)
  try {
    const requests = usualRequestsFor(document, template, method)
    for (const request of fc.sample(requests, { numRuns: 200, seed: SEED })) {
      if (SERVED.includes((await lane.send(request)).status)) return true
    }
    return false
  } finally {
    lane.close()
  }
}
