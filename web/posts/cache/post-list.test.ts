import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addPost, hasPost, isBehind, listIds, type PostList, removePost } from './post-list.ts'

const read: PostList = { pages: [['5', '4'], ['3']], added: [], removed: [] }

test('posts added here come first, newest first, then the pages', () => {
  expect(listIds(addPost(addPost(read, '6'), '7'))).toEqual(['7', '6', '5', '4', '3'])
})

test('adding a post that the list has is an error', () => {
  expect(() => addPost(read, '4')).toThrow('Пост с id=4 уже существует')
  expect(() => addPost(addPost(read, '6'), '6')).toThrow('Пост с id=6 уже существует')
})

test('a page that brings a post added here does not show it twice', () => {
  const list = { ...addPost(read, '6'), pages: [['6', '5'], ['4']] }
  expect(listIds(list)).toEqual(['6', '5', '4'])
})

test('a removed post stays away when a later page still has it', () => {
  const list = removePost(read, '3')
  expect(listIds(list)).toEqual(['5', '4'])
  expect(listIds({ ...list, pages: [...list.pages, ['3', '2']] })).toEqual(['5', '4', '2'])
  expect(listIds(removePost(addPost(read, '6'), '6'))).toEqual(['5', '4', '3'])
  expect(hasPost(list, '3')).toBe(true)
})

test.each([
  ['nothing new', read, ['5', '4', '3'], false],
  ['a new post', read, ['6', '5', '4'], true],
  ['a page of new posts only', read, ['9', '8', '7'], true],
  ['one’s own post', addPost(read, '6'), ['6', '5', '4'], false],
  ['somebody’s post under one’s own', addPost(read, '7'), ['7', '6', '5'], true],
  ['one’s own deleted again', removePost(addPost(read, '6'), '6'), ['5', '4', '3'], false],
  ['posts that moved up as others were deleted', read, ['4', '3', '2'], false],
  ['the first post of an empty list', { ...read, pages: [[]] }, ['1'], true],
  ['no answer yet', read, [], false],
] as const)('what a newer first page tells: %s', (_, list, firstPage, behind) => {
  expect(isBehind(list, firstPage)).toBe(behind)
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
