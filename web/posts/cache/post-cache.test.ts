import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import {
  beginRead,
  buryPost,
  changePost,
  holdLikes,
  putMissing,
  putPosts,
  readCachedPost,
  renameOwner,
  showLikes,
} from './post-cache.ts'

function makePost(id: string, actions: Partial<Post['actions']> = {}): Post {
  return {
    id,
    text: `запись ${id}`,
    created_at: 1000,
    is_modified: false,
    owner: { id: 'u1', username: 'olga_v' },
    actions: {
      is_liked: false,
      likes_count: 0,
      replies_count: 0,
      parent_post_id: null,
      replied_post_id: null,
      replied_post: null,
      ...actions,
    },
  }
}

function answered(post: Post): Partial<Post['actions']> {
  const replied_post = { ...post, actions: { ...post.actions, replied_post: null } }
  return { parent_post_id: post.id, replied_post_id: post.id, replied_post }
}

test('a post and the post it answers become one entry each', () => {
  const client = new QueryClient()
  const parent = makePost('1', { replies_count: 1 })
  expect(putPosts(client, [makePost('2', answered(parent))])).toEqual(['2'])
  expect(readCachedPost(client, '1')?.actions.replies_count).toBe(1)
  expect(readCachedPost(client, '2')?.actions.replied_post).toBeNull()
  expect(readCachedPost(client, '2')?.actions.replied_post_id).toBe('1')
})

test('an answered post that was deleted is known to be deleted', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('2', { parent_post_id: '1', replied_post_id: '1' })])
  expect(readCachedPost(client, '1')).toBeNull()
})

test('a post deleted here stays deleted, whenever an answer that has it was asked for', () => {
  const client = new QueryClient()
  const before = beginRead()
  putPosts(client, [makePost('1')])
  buryPost(client, '1')
  for (const begun of [before, beginRead()]) {
    putPosts(client, [makePost('1'), makePost('2', answered(makePost('1')))], begun)
    changePost(client, '1', (post) => ({ ...post, text: 'снова' }))
    expect(readCachedPost(client, '1')).toBeNull()
  }
  client.clear()
  putPosts(client, [makePost('1')], before)
  expect(readCachedPost(client, '1')).toBeNull()
})

test('a post that was missing when it was asked for is there once it was published or a later answer has it', () => {
  const client = new QueryClient()
  const before = beginRead()
  for (const id of ['1', '2', '3']) putMissing(client, id, beginRead())
  putPosts(client, [makePost('1')])
  putPosts(client, [makePost('2')], beginRead())
  putPosts(client, [makePost('3')], before)
  expect(['1', '2', '3'].map((id) => readCachedPost(client, id)?.text)).toEqual([
    'запись 1',
    'запись 2',
    undefined,
  ])
})

test('an answered post that was gone is there again once a later answer has it', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('2', { parent_post_id: '1', replied_post_id: '1' })])
  putPosts(client, [makePost('2', answered(makePost('1')))])
  expect(readCachedPost(client, '1')?.text).toBe('запись 1')
})

test('an answer changes nothing of a post that was answered to a later question', () => {
  const client = new QueryClient()
  const slow = beginRead()
  putPosts(client, [makePost('1', { likes_count: 2, replies_count: 5 })], beginRead())
  putPosts(client, [makePost('1', { likes_count: 1, replies_count: 4 }), makePost('2')], slow)
  expect(readCachedPost(client, '1')?.actions).toMatchObject({ likes_count: 2, replies_count: 5 })
  expect(readCachedPost(client, '2')?.text).toBe('запись 2')
  putMissing(client, '1', slow)
  expect(readCachedPost(client, '1')?.text).toBe('запись 1')
})

test('an answer changes nothing that was published or changed here since it was asked for, yet brings newer likes', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('1'), makePost('2', { replies_count: 1 }), makePost('3')])
  const slow = beginRead()
  putPosts(client, [{ ...makePost('1'), text: 'исправлено' }])
  changePost(client, '2', (post) => ({ ...post, actions: { ...post.actions, replies_count: 0 } }))
  renameOwner(client, { id: 'u1', username: 'olga_vera' })
  const stale = makePost('2', { replies_count: 1, likes_count: 7 })
  putPosts(client, [makePost('1'), stale, makePost('3')], slow)
  expect(readCachedPost(client, '1')?.text).toBe('исправлено')
  expect(readCachedPost(client, '2')?.actions).toMatchObject({ replies_count: 0, likes_count: 7 })
  expect(readCachedPost(client, '3')?.owner.username).toBe('olga_vera')
})

test('a change reaches a cached post only', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('1')])
  changePost(client, '1', (post) => ({ ...post, text: 'другой текст' }))
  changePost(client, '2', (post) => ({ ...post, text: 'другой текст' }))
  expect(readCachedPost(client, '1')?.text).toBe('другой текст')
  expect(readCachedPost(client, '2')).toBeUndefined()
})

test('likes under way are kept from every answer, later ones from reads begun before', () => {
  const client = new QueryClient()
  const likes = () => {
    const { is_liked, likes_count } = readCachedPost(client, '5')?.actions ?? {}
    return { is_liked, likes_count }
  }
  putPosts(client, [makePost('5', { likes_count: 3 })])
  const before = beginRead()
  const { release } = holdLikes(client, '5')
  const meanwhile = beginRead()
  const liked = { is_liked: true, likes_count: 4 }
  showLikes(client, '5', liked)
  putPosts(client, [{ ...makePost('5', { likes_count: 3, replies_count: 1 }) }], before)
  expect(readCachedPost(client, '5')?.actions).toMatchObject({ ...liked, replies_count: 1 })
  putPosts(client, [makePost('5')])
  expect(likes()).toEqual(liked)

  release()
  for (const begun of [before, meanwhile]) {
    putPosts(client, [makePost('6', answered(makePost('5'))), makePost('5')], begun)
    expect(likes()).toEqual(liked)
  }
  putPosts(client, [makePost('5', { likes_count: 9 })], beginRead())
  expect(likes()).toEqual({ is_liked: false, likes_count: 9 })
})

test('a like confirmed before the post was read shows in the answer asked for before', () => {
  const client = new QueryClient()
  const begun = beginRead()
  const { confirm, release } = holdLikes(client, '8')
  confirm({ is_liked: true, likes_count: 1 })
  release()
  putPosts(client, [makePost('8')], begun)
  expect(readCachedPost(client, '8')?.actions).toMatchObject({ is_liked: true, likes_count: 1 })
})

test('a new name of an owner stands on all of their posts, and on nobody else’s', () => {
  const client = new QueryClient()
  const others = { ...makePost('3'), owner: { id: 'u2', username: 'petr' } }
  putPosts(client, [makePost('1'), makePost('2', answered(others))])
  buryPost(client, '4')
  renameOwner(client, { id: 'u1', username: 'olga_vera' })
  const names = ['1', '2', '3', '4'].map((id) => readCachedPost(client, id)?.owner.username)
  expect(names).toEqual(['olga_vera', 'olga_vera', 'petr', undefined])
})

test('posts stay for as long as lists may name them', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('1')])
  const [entry] = client.getQueryCache().findAll()
  expect(entry?.gcTime).toBe(Number.POSITIVE_INFINITY)
})
