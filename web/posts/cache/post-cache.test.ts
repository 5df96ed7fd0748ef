import { beforeEach, expect, test } from 'vitest'
import { makePost, replyTo } from '../../../contract/post.fixture.ts'
import { queryClient } from '../../http/query-client.ts'
import {
  changePost,
  nextVersion,
  putPost,
  putPosts,
  readCachedPost,
  renameOwner,
  setLikes,
  setTombstone,
} from './post-cache.ts'

beforeEach(() => queryClient.clear())

test('a post and the post it replies to become one entry each', () => {
  const parent = makePost('1', { replies_count: 1 })
  expect(putPosts([makePost('2', replyTo(parent))])).toEqual(['2'])
  expect(readCachedPost('1')?.actions.replies_count).toBe(1)
  expect(readCachedPost('2')?.actions.replied_post).toBeNull()
  expect(readCachedPost('2')?.actions.replied_post_id).toBe('1')
})

test('a post deleted here stays deleted, whenever the read that still has it started', () => {
  const before = nextVersion()
  putPosts([makePost('1')])
  setTombstone('1')
  for (const version of [before, nextVersion()]) {
    putPosts([makePost('1'), makePost('2', replyTo(makePost('1')))], version)
    changePost('1', (post) => ({ ...post, text: 'снова' }))
    expect(readCachedPost('1')).toBeNull()
  }
})

test('a post that a read did not find appears after it is published, or when a later read finds it', () => {
  const before = nextVersion()
  for (const id of ['1', '2', '3']) putPost(id, null)
  putPosts([makePost('1')])
  putPosts([makePost('2')], nextVersion())
  putPosts([makePost('3')], before)
  const texts = ['1', '2', '3'].map((id) => readCachedPost(id)?.text)
  expect(texts).toEqual(['запись 1', 'запись 2', undefined])
})

test('a reply without its replied post marks that post as deleted, until a later read contains it', () => {
  putPosts([makePost('2', { parent_post_id: '1', replied_post_id: '1' })])
  expect(readCachedPost('1')).toBeNull()
  putPosts([makePost('2', replyTo(makePost('1')))])
  expect(readCachedPost('1')?.text).toBe('запись 1')
})

test('an answer does not replace the answer to a read that started later', () => {
  const slow = nextVersion()
  putPosts([makePost('1', { likes_count: 2, replies_count: 5 })], nextVersion())
  putPosts([makePost('1', { likes_count: 1, replies_count: 4 }), makePost('2')], slow)
  expect(readCachedPost('1')?.actions).toMatchObject({ likes_count: 2, replies_count: 5 })
  expect(readCachedPost('2')?.text).toBe('запись 2')
  putPost('1', null, slow)
  expect(readCachedPost('1')?.text).toBe('запись 1')
})

test('an answer does not replace a post published or changed here after its read started', () => {
  putPosts([makePost('1'), makePost('2', { replies_count: 1 }), makePost('3')])
  const slow = nextVersion()
  putPosts([{ ...makePost('1'), text: 'исправлено' }])
  changePost('2', (post) => ({ ...post, actions: { ...post.actions, replies_count: 0 } }))
  renameOwner({ id: 'u1', username: 'olga_vera' })
  const stale = makePost('2', { replies_count: 1 })
  putPosts([makePost('1'), stale, makePost('3')], slow)
  expect(readCachedPost('1')?.text).toBe('исправлено')
  expect(readCachedPost('2')?.actions.replies_count).toBe(0)
  expect(readCachedPost('3')?.owner.username).toBe('olga_vera')
})

test('no answer to a read that started earlier replaces confirmed likes', () => {
  const likes = () => {
    const { is_liked, likes_count } = readCachedPost('5')?.actions ?? {}
    return { is_liked, likes_count }
  }
  const before = nextVersion()
  putPosts([makePost('5', { likes_count: 3 })])
  const meanwhile = nextVersion()
  const liked = { is_liked: true, likes_count: 4 }
  setLikes('5', liked)
  for (const version of [before, meanwhile]) {
    putPosts([makePost('6', replyTo(makePost('5'))), makePost('5')], version)
    expect(likes()).toEqual(liked)
  }
  putPosts([makePost('5', { likes_count: 9 })], nextVersion())
  expect(likes()).toEqual({ is_liked: false, likes_count: 9 })
})

test('a new username shows on all posts of its owner, and on no others', () => {
  const others = { ...makePost('3'), owner: { id: 'u2', username: 'petr' } }
  putPosts([makePost('1'), makePost('2', replyTo(others))])
  setTombstone('4')
  queryClient.setQueryData(['settings'], {})
  renameOwner({ id: 'u1', username: 'olga_vera' })
  const names = ['1', '2', '3', '4'].map((id) => readCachedPost(id)?.owner.username)
  expect(names).toEqual(['olga_vera', 'olga_vera', 'petr', undefined])
})
