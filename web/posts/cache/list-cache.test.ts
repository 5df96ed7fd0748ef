import { QueryClient } from '@tanstack/react-query'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addPost,
  addToLists,
  type CachedPages,
  changesKey,
  evictPost,
  fillGap,
  hasNewer,
  hasPost,
  type ListName,
  type LocalChanges,
  NO_CHANGES,
  type PostList,
  pagesKey,
  placePages,
  removePost,
  showNewer,
  shownPages,
} from './list-cache.ts'

const listIds = (list: PostList) => shownPages(list).flatMap(({ ids }) => ids)

function startLists(...lists: readonly [ListName, entryKey: string, ids: string[]][]) {
  const client = new QueryClient()
  for (const [name, entryKey, ids] of lists) {
    const pages = [{ cursor: '', ids, nextCursor: null, total: ids.length }]
    client.setQueryData<CachedPages>(pagesKey(name, entryKey), { pages, pageParams: [''] })
  }
  const changes = (name: ListName, entryKey: string) =>
    client.getQueryData<LocalChanges>(changesKey(name, entryKey)) ?? NO_CHANGES
  return { client, changes }
}

test('a published post goes to every entryKey of the lists it belongs to, and to no other list', () => {
  const { client, changes } = startLists(
    ['wall', 'a', ['1']],
    ['wall', 'b', []],
    ['liked', 'c', []],
  )
  addToLists(client, ['wall', 'posts-of 7'], '2')
  addToLists(client, ['wall', 'posts-of 7'], '3')
  expect(changes('wall', 'a').added).toEqual(['3', '2'])
  expect(changes('wall', 'b').added).toEqual(['3', '2'])
  expect(changes('liked', 'c').added).toEqual([])
})

test('a list that was read after the post was published has it once', () => {
  const { client, changes } = startLists(['wall', 'a', ['2', '1']])
  addToLists(client, ['wall'], '2')
  expect(changes('wall', 'a').added).toEqual([])
})

test('a reply is added to the list of the post it replies to', () => {
  const { client, changes } = startLists(['replies 1', 'a', []], ['replies 12', 'b', []])
  addToLists(client, ['replies 1'], '2')
  expect(changes('replies 1', 'a').added).toEqual(['2'])
  expect(changes('replies 12', 'b').added).toEqual([])
})

test('a deleted post is removed from every list', () => {
  const { client, changes } = startLists(['wall', 'a', ['1']], ['liked', 'b', ['1']])
  evictPost(client, '1')
  expect(changes('wall', 'a').removed).toEqual(['1'])
  expect(changes('liked', 'b').removed).toEqual(['1'])
})

const first = (...ids: string[]) => ({ cursor: '', ids })
const later = (cursor: string, ...ids: string[]) => ({ cursor, ids })
const read: PostList = { ...NO_CHANGES, pages: [first('5', '4'), later('4', '3')] }

test('posts added here come first, newest first, then the pages', () => {
  expect(listIds(addPost(addPost(read, '6'), '7'))).toEqual(['7', '6', '5', '4', '3'])
})

test('adding a post that the list has is an error', () => {
  expect(() => addPost(read, '4')).toThrow('Пост с id=4 уже существует')
  expect(() => addPost(addPost(read, '6'), '6')).toThrow('Пост с id=6 уже существует')
})

test('a post added here that a page brings too shows once', () => {
  const list = { ...addPost(read, '6'), pages: [first('6', '5'), later('5', '4')] }
  expect(listIds(list)).toEqual(['6', '5', '4'])
})

test('a removed post stays hidden when a later page still has it', () => {
  const list = removePost(read, '3')
  expect(listIds(list)).toEqual(['5', '4'])
  expect(listIds({ ...list, pages: [...list.pages, later('3', '3', '2')] })).toEqual([
    '5',
    '4',
    '2',
  ])
  expect(listIds(removePost(addPost(read, '6'), '6'))).toEqual(['5', '4', '3'])
  expect(hasPost(list, '3')).toBe(true)
})

test.each([
  ['the newest that is read', read, '5', false],
  ['a new post', read, '6', true],
  ['one that numbers, but not letters, put later', read, '10', true],
  ['one’s own post', addPost(read, '6'), '6', false],
  ['somebody’s post under one’s own', addPost(read, '7'), '6', true],
  ['one’s own deleted again', removePost(addPost(read, '6'), '6'), '6', false],
  ['the first post of an empty list', { ...read, pages: [first()] }, '1', true],
] as const)('whether a post that is told of is new to the list: %s', (_, list, id, newer) => {
  expect(hasNewer(list, id)).toBe(newer)
})

const WALL = { name: 'wall', entryKey: 'a' } as const
const page = (cursor: string, ids: string[], total: number) => {
  return { cursor, ids, nextCursor: ids.at(-1) ?? null, total }
}

/** A wall of which the posts 5 and 4 are read, and how its pages are shown. */
function startWall(changes: Partial<LocalChanges> = {}) {
  const { client } = startLists(['wall', 'a', []])
  const pages = [page('', ['5', '4'], 5)]
  client.setQueryData<CachedPages>(pagesKey('wall', 'a'), { pages, pageParams: [''] })
  client.setQueryData<LocalChanges>(changesKey('wall', 'a'), { ...NO_CHANGES, ...changes })
  const shown = () => {
    const { pages = [] } = client.getQueryData<CachedPages>(pagesKey('wall', 'a')) ?? {}
    const local = client.getQueryData<LocalChanges>(changesKey('wall', 'a')) ?? NO_CHANGES
    return shownPages({ pages, ...local })
  }
  return { client, shown }
}

const OLD = { key: '4', cursor: '6', ids: ['5', '4'], isStop: true }

test('newer posts come above what was read, whose page keeps its key, and one’s own stands among them', () => {
  const { client, shown } = startWall({ added: ['8', '6'] })
  showNewer(client, WALL, page('', ['7', '6', '5', '4'], 7))
  expect(shown()).toEqual([{ key: '6', cursor: '', ids: ['8', '7', '6'], isStop: false }, OLD])
})

test('where newer posts do not reach what was read, a gap is between, and pages fill it', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['11', '10'], 11))
  const newest = { key: '10', cursor: '', ids: ['11', '10'], isStop: false }
  expect(shown()).toEqual([{ ...newest, gap: { cursor: '10', size: 4 } }, OLD])
  fillGap(client, WALL, page('10', ['9', '8'], 11))
  const next = { key: '8', cursor: '10', ids: ['9', '8'], isStop: false }
  expect(shown()).toEqual([newest, { ...next, gap: { cursor: '8', size: 2 } }, OLD])
  fillGap(client, WALL, page('8', ['7', '5'], 10))
  expect(shown()).toEqual([newest, next, { key: '7', cursor: '8', ids: ['7'], isStop: false }, OLD])
})

test('each page knows how many posts stand above it, counted from the page of which that was known', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['11', '10'], 11))
  const above = (cursor: string, known: number) =>
    placePages(shown(), { cursor, above: known }).map((it) => it.above)
  expect(above('', 0)).toEqual([0, 6])
  expect(above('6', 8)).toEqual([2, 8])
  expect(above('3', 8)).toEqual([null, null])
  fillGap(client, WALL, page('10', ['9', '8', '7'], 7))
  expect(above('', 0)).toEqual([0, 2, 6])
  fillGap(client, WALL, page('7', ['5'], 7))
  expect(above('', 0)).toEqual([0, 2, 5])
})

test('where nothing is newer, or nothing was read, no line says where the person stopped', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['5', '4'], 5))
  expect(shown()).toEqual([{ ...OLD, cursor: '', isStop: false }])
  const empty = startLists(['wall', 'a', []])
  showNewer(empty.client, WALL, page('', ['6'], 1))
  expect(empty.changes('wall', 'a')).toEqual(NO_CHANGES)
})

test('whatever is added and removed, no id shows twice and no removed one shows', () => {
  const step = fc.record({ add: fc.boolean(), id: fc.integer({ min: 1, max: 20 }).map(String) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let list = read
      for (const { add, id } of steps) {
        if (!add) list = removePost(list, id)
        else if (!hasPost(list, id)) list = addPost(list, id)
      }
      const shown = listIds(list)
      expect(new Set(shown).size).toBe(shown.length)
      expect(shown.filter((id) => list.removed.includes(id))).toEqual([])
    }),
  )
})

test('posts added here stand in the first page, and nowhere while a later one is the first that is read', () => {
  const list = addPost(read, '6')
  expect(listIds(list)).toEqual(['6', '5', '4', '3'])
  expect(listIds({ ...list, pages: read.pages.slice(1) })).toEqual(['3'])
})

test('a page keeps its key as the list grows, and goes when it has no post left to show', () => {
  const keys = (list: PostList) => shownPages(list).map(({ key }) => key)
  const more = { ...read, pages: [...read.pages, later('3', '3', '2')] }
  expect(keys(addPost(more, '6'))).toEqual(['4', '3', '2'])
  expect(keys(removePost(more, '3'))).toEqual(['4', '2'])
})
