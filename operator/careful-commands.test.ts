import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readJournal } from '../server/kernel/journal/journal.ts'
import { EXCLUDED_TABLES } from '../server/operations/backup/tables.repository.ts'
import { report } from '../server/testing/calls/moderation-calls.ts'
import { clientForTest } from '../server/testing/database/database-for-test.ts'
import { executeOn, lockWaits } from '../server/testing/database/databases.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { envOf, runHere, startCommand } from '../server/testing/process/run-command.ts'

const { app, mailbox, olga, petr, vslukh, statusOf } = await operatedWall()

const env = { ...envOf(app), SMTP_URL: mailbox.url, PORT: new URL(app.url).port }

/** They have tests of their own, because they need a machine or replace the wall. */
const APART = ['archive', 'restore', 'move-database', 'upgrade', 'setup']

/** Makes what the command lines are about. Returns those of usages that need more than a person. */
async function prepare(): Promise<string[]> {
  const file = join(await folderForTest(), 'wall.backup')
  const { id } = await app.publish(olga)
  const { id: returned } = await app.publish(olga)
  await report(app, petr, { postId: id })
  for (const line of [
    `post ${returned} remove --quiet`,
    `user ${petr.id} block --reason Спам --yes`,
    'moderator add first@example.org',
    'ban add domain old.example',
    'invite --uses 5',
    'close wall --on 2099-01-31',
    `backup ${file}`,
  ]) {
    expect(await vslukh(...line.split(' ')), line).toMatchObject({ code: 0 })
  }
  const how = '--reason Торговля --block-days 3 --note Опять --order №7 --quiet'
  return `reports --page 1 --all
report ${id} remove ${how}
report ${id} keep --note Ошибка --quiet
post ${id}
post ${id} remove ${how}
post ${returned} restore --note Ошибка
post remove --user ${olga.email} --since 2h
user ${olga.id} --before ${returned}
user ${olga.id} block --reason Спам --days 2
user ${petr.id} unblock
user ${olga.id} rename olga_renamed
user ${olga.id} email lost.${olga.id}@example.org --reason Потеряла
user ${olga.id} export ${file}.zip
people --since 2h --before ${petr.id}
moderator add ${olga.email} --unmarked
moderator add ${olga.email} --first
moderator remove first@example.org
ban add network 203.0.113.0/24 --all --days 1 --for 7d --reason Спам
ban remove 1
close registrations --reason Спам
close writing --reason Переезд
close wall --on 2099-12-31
open registrations
open registrations --invite-only
notice Встреча --until 3d
invite --days 2 --uses 30 --note Клуб
invite revoke 1
journal --user ${olga.id} --post ${id} --since 1h
journal --access --user ${olga.id}
mail test operator@example.org
mail log
mail log ${petr.email}
backup --without-secret
verify ${file}`.split('\n')
}

/** Reads all rows of every table of a backup. */
async function readTables() {
  const tables = await app.sql<{ name: string }>`SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> ALL(${EXCLUDED_TABLES})`
  const queries = tables.map(({ name }) => `SELECT '${name}', t::text FROM ${name} t`)
  return executeOn(app.databaseUrl, `${queries.join(' UNION ALL ')} ORDER BY 1, 2`)
}

/** Returns the words of a command line or of a usage, up to its options and optional words. */
const wordsOf = (line: string) => line.replace(/ (?:\[|--).*/, '').split(' ')

/** Whether a command line has the form of a usage, whose placeholders are in Russian capitals. */
function isOf(usage: string, line: string): boolean {
  const [form, words] = [wordsOf(usage), wordsOf(line)]
  const isSuch = (part: string, at: number) =>
    /^[А-ЯЁ]/.test(part) || part.split('|').includes(words[at] ?? '')
  return form.length === words.length && form.every(isSuch)
}

type Help = { commands: { name: string; usage: string[]; options: string[] }[] }

test('a dry run of every usage and option in the help succeeds, says that nothing is changed, and changes nothing', async () => {
  const lines = await prepare()
  const { commands }: Help = JSON.parse((await runHere({}, ['--help', '--json'])).out)
  for (const { usage, options } of commands.filter(({ name }) => !APART.includes(name))) {
    const plain = usage.filter((form) => !lines.some((line) => isOf(form, line)))
    lines.push(...plain.map((form) => form.replace('КТО', olga.id)))
    const own = lines.filter((line) => usage.some((form) => isOf(form, line))).join()
    for (const option of options) expect(own).toContain(` --${option.replace('=', '')}`)
  }

  const dueJobs = 'SELECT FROM graphile_worker._private_jobs WHERE run_at <= now()'
  await expect.poll(() => executeOn(app.databaseUrl, dueJobs)).toEqual([])
  const before = await readTables()
  for (const line of lines) {
    const { out, err } = await runHere(env, [...line.split(' '), '--dry-run', '--json'])
    expect(JSON.parse(out), line).not.toHaveProperty('error')
    expect(err, line).toContain('ничего не изменено')
  }
  expect(await readTables()).toEqual(before)
})

test('--json prints refusals, wrong calls and the help as JSON, with the same exit codes', async () => {
  for (const [code, ...args] of [
    [1, 'post', '999999'],
    [2, 'status', 'now'],
  ] as const) {
    const result = await vslukh(...args, '--json')
    expect(result.code).toBe(code)
    expect(JSON.parse(result.out)).toEqual({ error: expect.stringMatching(/[а-яё]/) })
  }
  const one = JSON.parse((await runHere({}, ['report', '--help', '--json'])).out)
  expect(one).toMatchObject({ usage: expect.any(Array), options: expect.any(Array) })
})

test('a command runs through a link and reads only the named files of the current folder', async () => {
  const cwd = await folderForTest()
  await mkdir(join(cwd, 'bin'))
  await symlink(join(import.meta.dirname, '../bin/vslukh'), join(cwd, 'bin/vslukh'))
  // graphile-worker would read this file as its configuration and fail.
  await writeFile(join(cwd, 'package.json'), '{ broken')
  const variables = Object.entries(envOf(app)).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(cwd, 'wall.env'), variables.join(''))
  const call = (...args: string[]) =>
    startCommand({ root: cwd, cwd, env: {}, args: ['--env-file', 'wall.env', ...args] }).ended
  const { email } = await app.signUp()
  const relative = { ...envOf(app), DATA_DIR: 'none' }
  const [backup, verify, exported, doctor] = await Promise.all([
    call('backup', 'wall.backup'),
    call('verify', 'none'),
    call('user', email, 'export', 'data.zip'),
    startCommand({ root: cwd, cwd, env: relative, args: ['doctor'] }).ended,
  ])
  expect(backup).toMatchObject({ code: 0, err: '' })
  expect(await readdir(cwd)).toContain('wall.backup')
  expect(verify).toMatchObject({ code: 1, err: expect.stringContaining(join(cwd, 'none')) })
  expect(exported).toMatchObject({ code: 0, out: expect.stringContaining(join(cwd, 'data.zip')) })
  expect(doctor.out).toContain(join(cwd, 'none'))
})

test('a command whose reader is gone ends as usual, without a stack; one that cannot print ends with an error', async () => {
  const { child, ended } = startCommand({ env: {}, args: ['--help'] })
  child.stdout?.destroy()
  expect(await ended).toMatchObject({ code: 0, err: '' })
  const printing = promisify(execFile)('sh', ['-c', 'bin/vslukh help >/dev/full'])
  const stderr = expect.stringMatching(/^Ответ не напечатан: .*\n$/)
  await expect(printing).rejects.toMatchObject({ code: 1, stderr })
})

test('user refuses a name that is also another user’s id, and the journal records who called sudo', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await app.db.updateTable('users').set({ username: olga.id }).where('id', '=', petr.id).execute()
  const refused = await vslukh('user', olga.id)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(petr.email) })
  expect((await vslukh('user', petr.email)).out).toContain(`${olga.id} (${petr.id})`)
  expect(await vslukh('user', petr.email, 'constructor')).toMatchObject({ code: 2 })

  const post = await app.publish(await app.signUp(), 'Чья это запись?')
  expect((await vslukh('post', post.id)).out).toContain(`Автор: ${post.owner.username} (`)
  const block = ['user', petr.email, 'block', '--reason', 'Спам']
  const asked = { code: 1, err: expect.stringContaining('сессии завершатся') }
  expect(await vslukh(...block)).toMatchObject(asked)
  const sudo = { ...envOf(app), USER: 'root', SUDO_USER: 'galya' }
  expect(await runHere(sudo, [...block, '--yes'])).toMatchObject({ code: 0 })
  expect((await readJournal(app.db, { userId: petr.id }))[0]).toMatchObject({ actor: 'galya' })
  const remove = ['post', post.id, 'remove', '--block-days', '3']
  expect(await vslukh(...remove)).toMatchObject({ ...asked, err: expect.stringContaining('--yes') })
  expect(await statusOf(post.id)).toBe(200)
  expect(await vslukh(...remove, '--yes')).toMatchObject({ code: 0 })
  expect(await statusOf(post.id)).toBe(404)
})

test('removing many posts skips a post that its author deletes meanwhile', async () => {
  const author = await app.signUp()
  const posts = [await app.publish(author), await app.publish(author), await app.publish(author)]
  const [first, second] = posts.map(({ id }) => id)
  const holder = await clientForTest(app.databaseUrl)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [first])
  const wave = vslukh('post', 'remove', '--user', author.username, '--since', '2h', '--yes')
  await expect.poll(() => lockWaits(app)).toBe(1)
  await app.call('DELETE', `/posts/${second}`, { token: author.token })
  await holder.query('COMMIT')
  expect(await wave).toMatchObject({ code: 0, out: 'Удалено: 2 записи.\n' })
  for (const { id } of posts) expect(await statusOf(id)).toBe(404)
})

test('user export writes a new file that only its owner can read, or leaves none; user erase states its effect and takes the posts off the wall', async () => {
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  const folder = await folderForTest()
  const file = join(folder, 'olga.zip')
  const user = (...args: string[]) => vslukh('user', olga.email, ...args)
  expect(await user('export')).toMatchObject({ code: 2 })
  const nowhere = await user('export', join(folder, 'none', 'olga.zip'))
  expect(nowhere.err).toMatch(/^Не записано: .*\/none\/olga\.zip: такого файла или папки нет\.\n$/)
  // The archive is read from the database while it is written.
  await app.db.schema.alterTable('journal').renameTo('away').execute()
  expect(await user('export', file)).toMatchObject({ code: 1 })
  await app.db.schema.alterTable('away').renameTo('journal').execute()
  expect(await readdir(folder)).toEqual([])
  expect(await user('export', file)).toMatchObject({ code: 0 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readFile(file)).subarray(0, 2).toString()).toBe('PK')
  for (const dryRun of [[], ['--dry-run']]) {
    const err = expect.stringContaining('уже есть')
    expect(await user('export', file, ...dryRun)).toMatchObject({ code: 1, err })
  }

  expect(await user('erase')).toMatchObject({ code: 1 })
  const effect = 'записей 1, ответов 0, отметок «Нравится» 0'
  expect((await user('erase', '--dry-run')).out).toContain(effect)
  expect(await statusOf(id)).toBe(200)
  expect(await user('erase', '--yes')).toMatchObject({ code: 0 })
  expect(await statusOf(id)).toBe(404)
  expect(await user()).toMatchObject({ code: 1 })
})

test('Ctrl+C and Ctrl+D at a question change nothing and end with a sentence', async () => {
  const author = await app.signUp()
  const args = ['user', author.email, 'sign-out']
  for (const key of ['\x03', '\x04']) {
    const input = new PassThrough()
    input.write(key)
    const { code, err } = await runHere(envOf(app), args, input)
    expect(code).toBe(1)
    expect(err).toMatch(/Прервано\. Ничего не изменено\.\n$/)
    expect(err).not.toMatch(/Error|^ {4}at /m)
  }
  const yes = new PassThrough()
  yes.write('да\n')
  expect(await runHere(envOf(app), args, yes)).toMatchObject({ code: 0 })
})
