import { beforeEach, expect, test } from 'vitest'
import { makePost } from '../../../contract/post.fixture.ts'
import { refusal, startAnsweringServer } from '../../testing/answering-server.ts'
import { checkDrafts } from './orphaned-texts.ts'
import { type Target, type Text, textPrefix, textsChanged } from './stored-texts.ts'
import { texts } from './texts.ts'

beforeEach(async () => {
  const server = await startAnsweringServer()
  server.answer = ({ call }) =>
    call.endsWith('/404') ? refusal('POST_NOT_FOUND') : { status: 200, body: makePost('1') }
})

function storeDraft(target: Target): void {
  const rest = { tab: '', at: Date.now(), until: 0, tries: 0, state: 'draft' } as const
  const draft: Text = { id: target, by: '7', target, text: `О ${target}`, ...rest }
  localStorage.setItem(textPrefix(draft) + draft.id, JSON.stringify(draft))
  textsChanged.emit()
}

test('drafts about a deleted post move to the draft of a new post', async () => {
  storeDraft('new')
  storeDraft('reply 404')
  await checkDrafts('7')
  expect(texts.get()).toMatchObject([{ target: 'new', text: 'О new\n\nО reply 404' }])
})
