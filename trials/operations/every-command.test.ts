import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../server/testing/backups.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { MODERATION_CASES } from './every-command/moderation-cases.ts'
import { PEOPLE_CASES } from './every-command/people-cases.ts'
import { openSeededWall, SETTINGS, type Wall } from './every-command/seeded-wall.ts'
import { madeBefore, SITE_CASES } from './every-command/site-cases.ts'

const CASES = [...MODERATION_CASES, ...PEOPLE_CASES, ...SITE_CASES]
const succeeds = () => 0
/**
 * `restore` replaces what all others have done, so it comes last; debian-package.test.ts tests
 * `upgrade`, and setup.test.ts and move-database.test.ts test the commands of their names.
 */
const APART = ['restore ФАЙЛ', 'move-database [DATABASE_URL]', 'upgrade ФАЙЛ', 'setup ИМЯ_САЙТА']

/** Returns a way to call a command without its options in brackets. */
const withoutOptions = (usage: string) => usage.replaceAll(/ \[(?:--.*?|show)\]/g, '')

test('every usage and option in the help has a case', async () => {
  const { commands } = JSON.parse((await runCommand({}, '--help', '--json')).out) as {
    commands: { name: string; usage: string[]; options: string[] }[]
  }
  const usages = commands.flatMap(({ usage }) => usage.map(withoutOptions))
  expect([...CASES.map(({ usage }) => usage), ...APART].sort()).toEqual(usages.sort())
  const lines = CASES.map(({ words }) => words(NOBODYS))
  for (const { name, options } of commands) {
    if (APART.some((usage) => usage.startsWith(`${name} `))) continue
    const used = lines.filter(([command]) => command === name).flat()
    for (const option of options) expect(used, name).toContain(`--${option.replace('=', '')}`)
  }
})

/** A wall for command lines that are not run. */
const ANYBODY = new Proxy({}, { get: () => ({ id: '0', username: 'nobody' }) })
const NOBODYS = { folder: '/nowhere', people: ANYBODY, posts: ANYBODY } as Wall

async function prepare(wall: Wall): Promise<void> {
  expect(await runCommand(wall.env, 'backup', madeBefore(wall), '--as', 'seed')).toMatchObject({
    code: 0,
  })
  for (const line of CASES.flatMap(({ before }) => before?.(wall) ?? [])) {
    if (typeof line === 'string') await wall.query(line)
    else expect(await runCommand(wall.env, ...line, '--as', 'seed')).toMatchObject({ code: 0 })
  }
}

test.each(SETTINGS)(
  'every command with %s: refusals and dry runs change nothing, and each run does its work',
  { timeout: 600_000 },
  async (setting) => {
    const wall = await openSeededWall(setting, prepare)
    const before = await wall.digest()
    await expectRefusals(wall)
    for (const { words, code = succeeds, json } of CASES) {
      const line = words(wall)
      const dry = await runCommand(wall.env, ...line, '--dry-run', '--json')
      expect(dry.code, `${line.join(' ')}: ${dry.out}${dry.err}`).toBe(code(wall))
      expect(JSON.parse(dry.out), line.join(' ')).toMatchObject(json(wall) as object)
      // The doctor never changes anything, and does not mention it.
      if (line[0] !== 'doctor') expect(dry.err).toContain('ничего не изменено')
    }
    expect(await wall.digest()).toEqual(before)

    for (const { words, code = succeeds, prints, leaves } of CASES) {
      const line = words(wall)
      const done = await runCommand(wall.env, ...line)
      expect(done, line.join(' ')).toMatchObject({
        code: code(wall),
        out: expect.stringContaining(prints(wall)),
      })
      if (leaves) expect(await leaves[0](wall), line.join(' ')).toEqual(leaves[1])
    }
    const acts = await wall.query(`SELECT action FROM journal WHERE actor = 'masha' ORDER BY id`)
    expect(acts.map(({ action }) => action)).toEqual(CASES.flatMap(({ journal = [] }) => journal))
    await expectRestores(wall)
  },
)

/** Runs commands that are refused (1) or wrong (2), each with a part of the sentence. */
async function expectRefusals(wall: Wall): Promise<void> {
  const noBackup = join(wall.folder, 'no.backup')
  await writeFile(noBackup, 'Не копия')
  const refusals: [number, string, ...string[]][] = [
    [1, 'Пользователя nobody нет', 'user', 'nobody'],
    [1, 'Пользователя nobody нет', 'journal', '--user', 'nobody'],
    [1, 'Пользователя nobody нет', 'post', 'remove', '--user', 'nobody', '--since', '1h'],
    [1, 'Записи 999999 нет', 'post', '999999', 'remove'],
    [1, 'нельзя вернуть: на стене', 'post', wall.posts.shown.id, 'restore'],
    [1, '', 'report', wall.posts.shown.id, 'keep'],
    [1, 'и так может писать', 'user', 'olga@example.org', 'unblock'],
    [1, 'добавьте --yes', 'user', 'olga@example.org', 'erase'],
    [1, 'Запрета 77 нет', 'ban', 'remove', '77'],
    [1, 'Приглашения 77 нет', 'invite', 'revoke', '77'],
    [1, 'нет среди модераторов', 'moderator', 'remove', 'olga@example.org'],
    [1, 'уже есть', 'backup', madeBefore(wall)],
    [1, 'опия', 'verify', noBackup],
    [1, 'опия', 'restore', noBackup, '--replace', '--yes'],
    [1, 'Здесь нет systemd или /opt/vslukh/current', 'upgrade', noBackup],
    [2, 'Неверный вызов', 'status', '--loudly'],
    [2, 'у команды status нет --reason', 'status', '--reason', 'Спам'],
    [2, 'нужна причина', 'close', 'writing'],
    [2, 'нужен номер', 'people', '--before', 'x'],
    [2, 'только у registrations', 'open', 'writing', '--invite-only'],
    [2, 'одна строка', 'notice', 'Первая\nвторая'],
    [2, 'не адрес почты', 'mail', 'test', 'olga'],
  ]
  for (const [code, sentence, ...line] of refusals) {
    const err = expect.stringContaining(sentence)
    expect(await runCommand(wall.env, ...line), line.join(' ')).toMatchObject({
      code,
      out: '',
      err,
    })
  }
  const { SMTP_URL: _, ...env } = wall.env
  const mail = await runCommand(env, 'mail', 'test', 'olga@example.org')
  expect(mail).toMatchObject({ code: 1, err: expect.stringContaining('SMTP_URL не задан') })
}

/** Restores the backup that was made before all cases, over the wall and into an empty folder. */
async function expectRestores(wall: Wall): Promise<void> {
  const restore = ['restore', madeBefore(wall)]
  if (wall.nodes() > 0) {
    const err = expect.stringContaining('Остановите')
    expect(await runCommand(wall.env, ...restore, '--replace', '--yes')).toMatchObject({
      code: 1,
      err,
    })
    await wall.stop()
  }
  const changed = await wall.digest()
  const there = expect.stringContaining('добавьте --replace')
  expect(await runCommand(wall.env, ...restore)).toMatchObject({ code: 1, err: there })
  const replace = [...restore, '--replace', '--yes']
  expect(await runCommand(wall.env, ...replace, '--dry-run')).toEqual({
    code: 0,
    out: expect.stringMatching(/^Стену можно вернуть из копии, сделанной .*\.\n$/),
    err: expect.stringContaining('ничего не изменено'),
  })
  expect(await wall.digest()).toEqual(changed)
  const done = { code: 0, out: expect.stringMatching(/^Стена возвращена из копии/) }
  expect(await runCommand(wall.env, ...replace)).toMatchObject(done)
  const posts = 'SELECT count(*)::int AS posts FROM visible_posts'
  expect(await wall.query(posts)).toEqual([{ posts: 7 }])

  const env = {
    ...wall.env,
    DATA_DIR: join(wall.folder, 'empty'),
    ...('DATABASE_URL' in wall.env && { DATABASE_URL: await emptyDatabase() }),
  }
  const dry = await runCommand(env, ...restore, '--dry-run')
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('Стену можно вернуть') })
  expect(await runCommand(env, 'status')).toMatchObject({ code: 1, out: '' })
  expect(await runCommand(env, ...restore)).toMatchObject(done)
  const status = await runCommand(env, 'status', '--json')
  expect(JSON.parse(status.out)).toMatchObject({ users: 8, posts: 7, nodes: 0 })
}
