import { expect, test } from 'vitest'
import { authorFacts } from './author-block.tsx'

const AUTHOR = {
  id: '1',
  username: 'petr_petrov',
  createdAt: 1_699_963_200,
  posts: 4,
  removed: 1,
  recent: 0,
  block: { until: null, reason: 'Спам' },
}

test('a card shows since when its author is there, their posts, and until when they are blocked', () => {
  const facts =
    'с\u00a014\u00a0ноября\u00a02023 · 4\u00a0записи · удалено\u00a01 · заблокирован навсегда'
  expect(authorFacts(AUTHOR)).toBe(facts)
  expect(authorFacts({ ...AUTHOR, posts: 0, removed: 0, block: null })).toBe(facts.split(' · ')[0])
})
