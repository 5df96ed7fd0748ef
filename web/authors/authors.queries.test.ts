import { expect, test } from 'vitest'
import { repliesSource } from '../replies/replies.queries.ts'
import { refusal, startAnsweringServer } from '../testing/answering-server.ts'
import { repliesOfSource } from './authors.queries.ts'

test.each([
  ['replies', repliesSource('1')],
  ['own replies', repliesOfSource('7')],
])('%s answered with 404 are treated as an empty list', async (_what, source) => {
  const server = await startAnsweringServer()
  server.answer = () => refusal('NOT_FOUND')
  expect(await source.read('')).toMatchObject({ posts: [], total: 0, nextCursor: null })
})
