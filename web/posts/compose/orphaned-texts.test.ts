import { beforeEach, expect, test, vi } from 'vitest'
import { makePost } from '../../../contract/post.fixture.ts'
import {
  type AnsweringServer,
  refusal,
  startAnsweringServer,
} from '../../testing/answering-server.ts'
import { checkDrafts } from './orphaned-texts.ts'
import { type Target, type Text, textPrefix, textsChanged } from './stored-texts.ts'
import { texts } from './texts.ts'

const DAY_MS = 86_400_000

let server: AnsweringServer

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  server = await startAnsweringServer()
  server.answer = ({ call }) =>
    call.endsWith('/404') ? refusal('POST_NOT_FOUND') : { status: 200, body: makePost('1') }
})

function storeDraft(target: Target, hoursAgo = 0): void {
  const at = Date.now() - hoursAgo * 3_600_000
  const rest = { tab: '', at, until: 0, tries: 0, state: 'draft' } as const
  const draft: Text = { id: target, by: '7', target, text: `О ${target}`, ...rest }
  localStorage.setItem(textPrefix(draft) + draft.id, JSON.stringify(draft))
  textsChanged.emit()
}

/** Returns the posts that were read. */
async function check(): Promise<string[]> {
  server.received.length = 0
  await checkDrafts('7')
  return server.received.flatMap(({ call }) => /GET .*\/posts\/(\d+)$/.exec(call)?.[1] ?? []).sort()
}

test('the post of a draft is read once a day', async () => {
  for (const target of ['reply 1', 'edit 2', 'appeal 3', 'new'] as const) storeDraft(target)
  expect(await check()).toEqual(['1', '2'])
  expect(await check()).toEqual([])
  vi.advanceTimersByTime(DAY_MS)
  expect(await check()).toEqual(['1', '2'])
})

test('a draft of an edit ends a day after its period, and no post is read for it', async () => {
  storeDraft('edit 404', 25)
  storeDraft('edit 2', 24)
  storeDraft('reply 1', 900)
  expect(await check()).toEqual(['1', '2'])
  expect(texts.get().map(({ target }) => target)).toEqual(['reply 1', 'edit 2'])
})

test('drafts about a deleted post move to the draft of a new post', async () => {
  storeDraft('new')
  storeDraft('reply 404')
  await check()
  expect(texts.get()).toMatchObject([{ target: 'new', text: 'О new\n\nО reply 404' }])
})
