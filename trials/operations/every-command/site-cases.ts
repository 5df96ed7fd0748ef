import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Case, count } from './case.ts'
import type { Wall } from './seeded-wall.ts'

/** The backup that is made before any case runs. */
export const madeBefore = ({ folder }: Wall) => join(folder, 'before.backup')
const madeByCase = ({ folder }: Wall) => join(folder, 'case.backup')

const closed = async (wall: Wall) =>
  (
    await wall.query(
      'SELECT registrations_closed AS newcomers, writing_closed AS people FROM site_state',
    )
  )[0]

/** `restore` is no case: it replaces what the others have done. */
export const SITE_CASES: Case[] = [
  {
    usage: 'status',
    words: () => ['status'],
    prints: ({ nodes }) => (nodes() === 0 ? 'сервер не запущен' : 'узлов: 1'),
    json: ({ nodes }) => ({ nodes: nodes(), users: 8, waiting: { posts: 2, reports: 2 } }),
  },
  {
    usage: 'ban list',
    words: () => ['ban', 'list'],
    prints: () => '1  домен old.example, бессрочно',
    json: () => [{ id: '1', kind: 'domain', value: 'old.example', until: null }],
  },
  {
    usage: 'ban add domain|network|email ЗНАЧЕНИЕ',
    words: () => 'ban add network 203.0.113.0/24 --all --days 1 --for 7d --reason Спам'.split(' '),
    prints: () => 'Отсюда больше ничего не открыть: 203.0.113.0/24',
    json: () => ({ id: expect.stringMatching(/^\d+$/) }),
    leaves: [
      count(
        'bans',
        () => `value = '203.0.113.0/24' AND covers_all AND until > now() AND reason = 'Спам'`,
      ),
      1,
    ],
    journal: ['ban.add'],
  },
  {
    usage: 'ban remove НОМЕР',
    words: () => ['ban', 'remove', '1'],
    before: () => [['ban', 'add', 'domain', 'old.example']],
    prints: () => 'Запрет 1 снят.',
    json: () => ({ id: '1' }),
    leaves: [count('bans', () => `value = 'old.example'`), 0],
    journal: ['ban.remove'],
  },
  {
    usage: 'open registrations',
    words: () => ['open', 'registrations'],
    before: () => [['close', 'registrations', '--reason', 'Ночь']],
    prints: () => 'Регистрация открыта.',
    json: () => ({ part: 'registrations' }),
    leaves: [closed, { newcomers: null, people: null }],
    journal: ['registrations.open'],
  },
  {
    usage: 'open registrations --invite-only',
    words: () => ['open', 'registrations', '--invite-only'],
    prints: () => 'Регистрация по приглашениям',
    json: () => ({ part: 'registrations', isInviteOnly: true }),
    leaves: [count('site_state', () => 'is_invite_only'), 1],
    journal: ['registrations.invite-only'],
  },
  {
    usage: 'close registrations --reason ПРИЧИНА',
    words: () => ['close', 'registrations', '--reason', 'Спам'],
    prints: () => 'Регистрация закрыта: Спам',
    json: () => ({ part: 'registrations', reason: 'Спам' }),
    leaves: [closed, { newcomers: 'Спам', people: null }],
    journal: ['registrations.close'],
  },
  {
    usage: 'close writing --reason ПРИЧИНА',
    words: () => ['close', 'writing', '--reason', 'Переезд'],
    prints: () => 'Запись на стену закрыта: Переезд',
    json: () => ({ part: 'writing', reason: 'Переезд' }),
    leaves: [closed, { newcomers: 'Спам', people: 'Переезд' }],
    journal: ['writing.close'],
  },
  {
    usage: 'open writing',
    words: () => ['open', 'writing'],
    prints: () => 'Запись на стену открыта.',
    json: () => ({ part: 'writing' }),
    leaves: [closed, { newcomers: 'Спам', people: null }],
    journal: ['writing.open'],
  },
  {
    usage: 'notice',
    words: () => ['notice'],
    before: () => [['notice', 'В полночь перезапуск', '--until', '2h']],
    prints: () => 'Под шапкой у всех: В полночь перезапуск\nДо ',
    json: () => ({ notice: { text: 'В полночь перезапуск', until: expect.any(String) } }),
  },
  {
    usage: 'notice ТЕКСТ',
    words: () => ['notice', 'В субботу встреча', '--until', '3d'],
    prints: () => 'Под шапкой у всех: В субботу встреча\nДо ',
    json: () => ({ notice: { text: 'В субботу встреча', until: expect.any(String) } }),
    leaves: [
      count(
        'site_state',
        () => `notice = 'В субботу встреча' AND notice_until > now() + interval '71 hours'`,
      ),
      1,
    ],
    journal: ['notice.show'],
  },
  {
    usage: 'notice clear',
    words: () => ['notice', 'clear'],
    prints: () => 'Объявление снято.',
    json: () => ({ notice: null }),
    leaves: [count('site_state', () => 'notice IS NOT NULL'), 0],
    journal: ['notice.clear'],
  },
  {
    usage: 'invite',
    words: () => ['invite', '--days', '2', '--uses', '30', '--note', 'Клуб'],
    prints: () => '/invitation#',
    json: () => ({ link: expect.stringContaining('/invitation#') }),
    leaves: [
      count(
        'invitations',
        () => `expires_at < now() + interval '3 days' AND uses_left = 30 AND note = 'Клуб'`,
      ),
      1,
    ],
    journal: ['invite'],
  },
  {
    usage: 'invite list',
    words: () => ['invite', 'list'],
    prints: () => '1  осталось 5 из 5, до ',
    json: () => [{ id: '1', uses: 5, usesLeft: 5, note: null }],
  },
  {
    usage: 'invite revoke НОМЕР',
    words: () => ['invite', 'revoke', '1'],
    before: () => [['invite', '--uses', '5']],
    prints: () => 'Приглашение 1 отозвано.',
    json: () => ({ id: '1' }),
    leaves: [count('invitations', () => 'id = 1'), 0],
    journal: ['invite.revoke'],
  },
  {
    usage: 'journal',
    words: ({ people, posts }) => [
      'journal',
      ...['--user', people.olga.username, '--post', posts.returned.id, '--since', '1h'],
    ],
    prints: () => 'seed  запись удалена',
    json: () =>
      expect.arrayContaining([expect.objectContaining({ action: 'post.remove', actor: 'seed' })]),
  },
  {
    usage: 'journal --access',
    words: ({ people }) => ['journal', '--access', '--user', people.olga.username],
    prints: () => 'В журнале ничего нет.',
    json: () => [],
    journal: ['access.read'],
  },
  {
    usage: 'verify ФАЙЛ',
    words: (wall) => ['verify', madeBefore(wall)],
    prints: () => 'Копия верна',
    json: () => ({ posts: 7 }),
    leaves: [count('installation', () => 'backup_verified_at IS NOT NULL'), 1],
  },
  {
    usage: 'recount',
    words: () => ['recount'],
    before: () => ['UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5'],
    prints: () => 'Исправлено: 1.',
    json: () => ({ mended: [{ counter: 'wall' }] }),
    leaves: [count('installation', () => 'counter_differences = 0'), 1],
    journal: ['counters.mend'],
  },
  {
    usage: 'backup [ФАЙЛ|ПАПКА]',
    words: (wall) => ['backup', madeByCase(wall), '--without-secret'],
    prints: madeByCase,
    json: (wall) => ({ file: madeByCase(wall) }),
    leaves: [async (wall) => (await stat(madeByCase(wall))).mode & 0o777, 0o600],
    journal: ['wall.backup'],
  },
  {
    usage: 'mail test АДРЕС',
    words: () => ['mail', 'test', 'operator@example.org'],
    prints: () => '✓ Письмо принято сервером: 250',
    json: () => ({ address: 'operator@example.org' }),
    leaves: [
      async ({ mailbox }) => mailbox.mails.filter(({ to }) => to === 'operator@example.org').length,
      1,
    ],
  },
  {
    usage: 'mail log [АДРЕС]',
    words: () => ['mail', 'log', 'petr@example.org'],
    prints: () => 'p***@example.org  код  передано почтовому серверу, попыток: 1',
    json: () => [{ task: 'send-code', masked: 'p***@example.org', outcome: 'sent' }],
  },
  {
    usage: 'doctor',
    words: () => ['doctor'],
    // A stopped server does not answer at its address.
    code: ({ nodes }) => (nodes() === 0 ? 1 : 0),
    prints: () => '✓ таблицы обновлены, прав хватает',
    json: ({ nodes }) => ({ isBroken: nodes() === 0 }),
  },
  {
    usage: 'psql',
    words: () => ['psql'],
    prints: ({ url, nodes }) => (nodes() === 0 ? 'postgresql://' : url),
    json: () => ({ url: expect.stringMatching(/^postgres/) }),
  },
]
