import { expect } from 'vitest'
import { desktopTest as test } from '../../e2e/testing/journey.ts'
import { allEndpoints } from '../../server/testing/http/endpoints.ts'
import { FLOWS } from './flows.ts'
import { runFlow } from './run-flow.ts'

/** The lost answer or page that matters most in each of these flows. */
const SAMPLE = {
  register: 'drop GET page 2',
  'sign in': 'drop POST /logins/:id/verify 1',
  refresh: 'drop PATCH /sessions/current 2',
  publish: 'drop POST /posts 1',
  edit: 'drop PATCH /posts/:id 1',
  delete: 'drop DELETE /posts/:id 1',
  'change the e-mail': 'drop PUT /users/current/email/:id/verify 1',
  leave: 'drop POST /users/current/deletion/:id/verify 1',
  'keep as a moderator': 'drop POST /moderation/posts/:id/decision 1',
}

test('every endpoint that writes is in a flow', async () => {
  const writes = [...(await allEndpoints()).keys()].filter((name) => !name.startsWith('GET'))
  expect(writes.filter((name) => !FLOWS.some((flow) => flow.writes.includes(name)))).toEqual([])
})

/** One fault each of `npm run test:lost`. */
test.for(Object.entries(SAMPLE))(
  '%s: %s ends as if the answer had come',
  async ([name, fault], { journey }) => {
    const flow = FLOWS.find((one) => one.name === name)
    if (!flow) throw new Error(`${name} is no flow`)
    const { runs, faults } = await runFlow(
      journey,
      flow,
      (it) => `${it.fault} ${it.call}` === fault,
    )
    expect({ runs, faults }).toEqual({ runs: 1, faults: [] })
  },
)
