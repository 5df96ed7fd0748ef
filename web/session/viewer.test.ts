import { beforeEach, expect, test, vi } from 'vitest'
import { type AnsweringServer, startAnsweringServer } from '../testing/answering-server.ts'

const ANSWER = { code: 'NOT_NOW', message: 'Не сейчас' }

let server: AnsweringServer
beforeEach(async () => {
  server = await startAnsweringServer()
  vi.resetModules()
})

test.each([
  [403, 'signed-out'],
  [404, 'signed-out'],
  [429, 'no-answer'],
  [500, 'no-answer'],
])('if the server answers the first read with %i, the viewer is %s', async (status, state) => {
  server.answer = () => ({ status, body: ANSWER })
  const { viewer, reloadViewer } = await import('./viewer.ts')
  reloadViewer()
  await expect.poll(() => viewer.get().state).toBe(state)
})

test('a viewer who is read again stays known until the server answers', async () => {
  server.answer = () => ({ status: 200, body: { id: '1' } })
  const { viewer, reloadViewer } = await import('./viewer.ts')
  reloadViewer()
  await expect.poll(viewer.get).toMatchObject({ user: { id: '1' } })
  server.answer = () => ({ status: 503, body: ANSWER })
  const before = server.received.length
  reloadViewer()
  // The second request follows the first failure.
  await expect.poll(() => server.received.length).toBeGreaterThan(before + 2)
  expect(viewer.get()).toMatchObject({ user: { id: '1' } })
  server.answer = () => ({ status: 403, body: ANSWER })
  await expect.poll(viewer.get).toEqual({ state: 'signed-out' })
})
