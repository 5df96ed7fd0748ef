import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Case, count } from './case.ts'
import type { Wall } from './seeded-wall.ts'

const exported = ({ folder }: Wall) => join(folder, 'olga.zip')

export const PEOPLE_CASES: Case[] = [
  {
    usage: 'user КТО',
    words: ({ people, posts }) => ['user', people.olga.username, '--before', posts.kept.id],
    prints: ({ posts }) => `${posts.shown.id}  `,
    json: ({ people, posts }) => ({ id: people.olga.id, written: [{ id: posts.shown.id }] }),
  },
  {
    usage: 'people',
    words: ({ people }) => ['people', '--since', '2h', '--before', people.vera.id],
    prints: ({ people }) => `${people.petr.username} (${people.petr.id}), petr@example.org, с `,
    json: ({ people }) => ({ total: 2, people: [{ id: people.petr.id }, { id: people.olga.id }] }),
  },
  {
    usage: 'user КТО block --reason ПРИЧИНА',
    words: ({ people }) => [
      'user',
      people.petr.id,
      'block',
      '--reason',
      'Спам',
      '--days',
      '2',
      '--yes',
    ],
    prints: ({ people }) => `${people.petr.username} не может писать до `,
    json: ({ people }) => ({ id: people.petr.id }),
    leaves: [count('blocks', ({ people }) => `user_id = ${people.petr.id} AND reason = 'Спам'`), 1],
    journal: ['user.block'],
  },
  {
    usage: 'user КТО unblock',
    words: ({ people }) => ['user', people.vera.id, 'unblock'],
    before: ({ people }) => [['user', people.vera.id, 'block', '--reason', 'Спам', '--yes']],
    prints: ({ people }) => `${people.vera.username} снова может писать.`,
    json: ({ people }) => ({ id: people.vera.id }),
    leaves: [count('blocks', ({ people }) => `user_id = ${people.vera.id}`), 0],
    journal: ['user.unblock'],
  },
  {
    usage: 'user КТО sign-out',
    words: () => ['user', 'sonya@example.org', 'sign-out', '--yes'],
    prints: () => 'Сессий завершено: 1.',
    json: () => ({ sessions: 1 }),
    leaves: [count('sessions', ({ people }) => `user_id = ${people.sonya.id}`), 0],
    journal: ['user.sign-out'],
  },
  {
    usage: 'user КТО rename ИМЯ',
    words: () => ['user', 'rita@example.org', 'rename', 'rita_renamed'],
    prints: ({ people }) => `${people.rita.username} теперь rita_renamed.`,
    json: () => ({ username: 'rita_renamed' }),
    leaves: [count('users', () => `email = 'rita@example.org' AND username = 'rita_renamed'`), 1],
    journal: ['user.rename'],
  },
  {
    usage: 'user КТО export ФАЙЛ',
    words: (wall) => ['user', 'olga@example.org', 'export', exported(wall)],
    prints: exported,
    json: (wall) => ({ file: exported(wall) }),
    leaves: [async (wall) => (await readFile(exported(wall), 'latin1')).slice(0, 2), 'PK'],
    journal: ['user.export'],
  },
  {
    usage: 'user КТО erase',
    words: () => ['user', 'nina@example.org', 'erase', '--yes'],
    prints: ({ people }) => `Аккаунт ${people.nina.username} стёрт.`,
    json: () => ({ posts: 0, replies: 0, likes: 0 }),
    leaves: [count('users', ({ people }) => `id = ${people.nina.id}`), 0],
    journal: ['user.erase'],
  },
  {
    usage: 'moderator list',
    words: () => ['moderator', 'list'],
    prints: () => 'first@example.org  ещё не регистрировался',
    json: () => [{ email: 'first@example.org' }],
  },
  {
    usage: 'moderator add ПОЧТА',
    words: () => ['moderator', 'add', 'olga@example.org'],
    prints: () => 'olga@example.org теперь видит жалобы.',
    json: () => ({ email: 'olga@example.org' }),
    leaves: [count('moderators', () => `email = 'olga@example.org'`), 1],
    journal: ['moderator.add'],
  },
  {
    usage: 'moderator remove ПОЧТА',
    words: () => ['moderator', 'remove', 'first@example.org'],
    before: () => [['moderator', 'add', 'first@example.org']],
    prints: () => 'first@example.org больше не видит жалобы.',
    json: () => ({ email: 'first@example.org' }),
    leaves: [count('moderators', () => `email = 'first@example.org'`), 0],
    journal: ['moderator.remove'],
  },
]
