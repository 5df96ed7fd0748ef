import { expect, test } from 'vitest'
import { createLikeChanges } from './like-changes.ts'

const posts = (...ids: string[]) => ids.map((postId) => ({ postId }))

test('posts whose last like is no longer remembered count as changed for whoever read before it', () => {
  const changes = createLikeChanges(2)
  changes.note('1')
  const afterFirst = changes.count()
  changes.note('2')
  changes.note('3')
  // Only 2 and 3 are remembered.
  expect(changes.isCurrent(0, posts('1'))).toBe(false)
  expect(changes.isCurrent(0, posts('4'))).toBe(false)
  expect(changes.isCurrent(afterFirst, posts('1', '4'))).toBe(true)
  expect(changes.isCurrent(afterFirst, posts('1', '3'))).toBe(false)
  expect(changes.isCurrent(changes.count(), posts('1', '2', '3'))).toBe(true)
})
