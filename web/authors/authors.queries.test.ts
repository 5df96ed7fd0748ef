import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repliesSource } from '../replies/replies.queries.ts'
import { type AnsweringServer, refusal, startAnsweringServer } from '../testing/answering-server.ts'
import { repliesOfSource } from './authors.queries.ts'

let server: AnsweringServer
beforeEach(async () => {
  server = await startAnsweringServer()
  vi.stubGlobal('location', { origin: server.origin })
  vi.stubGlobal('localStorage', { getItem: () => 'this-browser', setItem: () => {} })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await server.close()
})

test.each([
  ['replies', repliesSource('1')],
  ['own replies', repliesOfSource('7')],
])('%s answered with 404 are treated as an empty list', async (_what, source) => {
  server.answer = () => refusal('NOT_FOUND')
  expect(await source.read('')).toMatchObject({ posts: [], total: 0, nextCursor: null })
})
