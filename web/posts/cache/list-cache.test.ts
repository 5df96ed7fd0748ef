import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import {
  addToLists,
  type CachedPages,
  changesKey,
  type ListName,
  type LocalChanges,
  NO_CHANGES,
  pagesKey,
  removeFromLists,
} from './list-cache.ts'

function startLists(...lists: readonly [ListName, visit: string, ids: string[]][]) {
  const client = new QueryClient()
  for (const [name, visit, ids] of lists) {
    const pages = [{ ids, nextCursor: null, total: ids.length }]
    client.setQueryData<CachedPages>(pagesKey(name, visit), { pages, pageParams: [null] })
  }
  const changes = (name: ListName, visit: string) =>
    client.getQueryData<LocalChanges>(changesKey(name, visit)) ?? NO_CHANGES
  return { client, changes }
}

test('a published post goes to every visit of the lists it belongs to, and to no other list', () => {
  const { client, changes } = startLists(
    ['wall', 'a', ['1']],
    ['wall', 'b', []],
    ['liked', 'c', []],
  )
  addToLists(client, ['wall', 'own-posts'], '2')
  addToLists(client, ['wall', 'own-posts'], '3')
  expect(changes('wall', 'a').added).toEqual(['3', '2'])
  expect(changes('wall', 'b').added).toEqual(['3', '2'])
  expect(changes('liked', 'c').added).toEqual([])
})

test('a list that was read after the post was published keeps it once', () => {
  const { client, changes } = startLists(['wall', 'a', ['2', '1']])
  addToLists(client, ['wall'], '2')
  expect(changes('wall', 'a').added).toEqual([])
})

test('replies go to the post they answer', () => {
  const { client, changes } = startLists(['replies 1', 'a', []], ['replies 12', 'b', []])
  addToLists(client, ['replies 1'], '2')
  expect(changes('replies 1', 'a').added).toEqual(['2'])
  expect(changes('replies 12', 'b').added).toEqual([])
})

test('a deleted post leaves every list', () => {
  const { client, changes } = startLists(['wall', 'a', ['1']], ['liked', 'b', ['1']])
  removeFromLists(client, '1')
  expect(changes('wall', 'a').removed).toEqual(['1'])
  expect(changes('liked', 'b').removed).toEqual(['1'])
})
