import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import {
  beginRead,
  buryPost,
  changePost,
  holdLikes,
  putPosts,
  readCachedPost,
  renameOwner,
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

test('an answer that was under way does not revive a deleted post', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('1')])
  buryPost(client, '1')
  putPosts(client, [makePost('1'), makePost('2', answered(makePost('1')))])
  changePost(client, '1', (post) => ({ ...post, text: 'снова' }))
  expect(readCachedPost(client, '1')).toBeNull()
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
  const { release } = holdLikes('5')
  const meanwhile = beginRead()
  const liked = { is_liked: true, likes_count: 4 }
  changePost(client, '5', (post) => ({ ...post, actions: { ...post.actions, ...liked } }))
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
  const { confirm, release } = holdLikes('8')
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
