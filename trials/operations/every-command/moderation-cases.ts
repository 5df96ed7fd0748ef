import { type Case, count } from './case.ts'
import type { Wall } from './seeded-wall.ts'

const HOW = ['--reason', 'Торговля', '--block-days', '3', '--note', 'Опять', '--order', '№ 7']
const QUIETLY = ['--note', 'Ошибка', '--quiet']
const hidden = (name: 'reported' | 'removed') => (wall: Wall) =>
  wall.query(`SELECT hidden_for, hidden_reason FROM posts WHERE id = ${wall.posts[name].id}`)
const removedSo = [{ hidden_for: 'removed', hidden_reason: 'Торговля' }]

export const MODERATION_CASES: Case[] = [
  {
    usage: 'reports',
    words: () => ['reports', '--page', '1', '--all'],
    prints: () => '1 жалоба (1 аккаунт)',
    json: () => ({ total: 2, decided: [] }),
  },
  {
    usage: 'report НОМЕР… remove',
    words: ({ posts }) => ['report', posts.reported.id, 'remove', ...HOW, '--quiet', '--yes'],
    prints: () => 'Запись удалена.',
    json: () => ({ was: 'published' }),
    leaves: [hidden('reported'), removedSo],
    journal: ['post.remove', 'user.block'],
  },
  {
    usage: 'report НОМЕР… keep',
    words: ({ posts }) => ['report', posts.kept.id, 'keep', ...QUIETLY],
    prints: () => 'Запись оставлена.',
    json: () => ({ was: 'published' }),
    leaves: [count('reports', ({ posts }) => `post_id = ${posts.kept.id} AND state = 'kept'`), 1],
    journal: ['post.keep'],
  },
  {
    usage: 'post НОМЕР',
    words: ({ posts }) => ['post', posts.shown.id, 'show'],
    prints: () => 'Это shown',
    json: ({ people }) => ({ state: 'published', username: people.olga.username }),
  },
  {
    usage: 'post НОМЕР remove',
    words: ({ posts }) => ['post', posts.removed.id, 'remove', ...HOW, '--quiet', '--yes'],
    prints: () => 'Запись удалена.',
    json: () => ({ was: 'published' }),
    leaves: [hidden('removed'), removedSo],
    journal: ['post.remove', 'user.block'],
  },
  {
    usage: 'post НОМЕР restore',
    words: ({ posts }) => ['post', posts.returned.id, 'restore', ...QUIETLY],
    before: ({ posts }) => [['post', posts.returned.id, 'remove', '--quiet']],
    prints: () => 'Запись возвращена.',
    json: () => ({ was: 'removed' }),
    leaves: [count('visible_posts', ({ posts }) => `id = ${posts.returned.id}`), 1],
    journal: ['post.restore'],
  },
  {
    usage: 'post remove --user КТО --since 2h',
    words: () => ['post', 'remove', '--user', 'kira@example.org', '--since', '2h', '--yes'],
    prints: () => 'Удалено: 2 записи.',
    json: () => ({ removed: { length: 2 } }),
    leaves: [count('visible_posts', ({ people }) => `owner_id = ${people.kira.id}`), 0],
    journal: ['post.remove', 'post.remove'],
  },
]
