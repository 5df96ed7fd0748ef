import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LEFT_OUT } from '../server/operations/backup/tables.repository.ts'
import { report } from '../server/testing/calls/moderation-calls.ts'
import { executeOn } from '../server/testing/database/databases.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { envOf, runHere } from '../server/testing/process/run-command.ts'

const { app, mailbox, olga, petr, vslukh } = await operatedWall()
const env = { ...envOf(app), SMTP_URL: mailbox.url, PORT: new URL(app.url).port }

/** They have tests of their own, because they need a machine or replace the wall. */
const APART = ['restore', 'move-database', 'upgrade', 'setup']

/** Makes what the command lines are about, and returns them. */
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
    `backup ${file}`,
  ]) {
    expect(await vslukh(...line.split(' ')), line).toMatchObject({ code: 0 })
  }
  const how = '--reason Торговля --block-days 3 --note Опять --order №7 --quiet'
  return `status
reports --page 1 --all
report ${id} remove ${how}
report ${id} keep --note Ошибка --quiet
post ${id}
post ${id} remove ${how}
post ${returned} restore --note Ошибка
post remove --user ${olga.email} --since 2h
user ${olga.id} --before ${returned}
user ${olga.id} block --reason Спам --days 2
user ${petr.id} unblock
user ${olga.id} sign-out
user ${olga.id} rename olga_renamed
user ${olga.id} export ${file}.zip
user ${olga.id} erase
people --since 2h --before ${petr.id}
moderator list
moderator add ${olga.email}
moderator remove first@example.org
ban list
ban add network 203.0.113.0/24 --all --days 1 --for 7d --reason Спам
ban remove 1
close registrations --reason Спам
close writing --reason Переезд
open registrations
open registrations --invite-only
open writing
notice
notice Встреча --until 3d
notice clear
invite --days 2 --uses 30 --note Клуб
invite list
invite revoke 1
journal --user ${olga.id} --post ${id} --since 1h
journal --access --user ${olga.id}
recount
mail test operator@example.org
mail log
mail log ${petr.email}
backup --without-secret
verify ${file}
doctor
psql`.split('\n')
}

const digestOf = ({ name }: { name?: string }) =>
  `SELECT '${name}' AS name, md5(string_agg(t::text, ',' ORDER BY t::text)) AS sum FROM ${name} t`

async function digest() {
  const tables = `SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> ALL('{${LEFT_OUT}}') ORDER BY 1`
  const statements = (await executeOn(app.databaseUrl, tables)).map(digestOf)
  return executeOn(app.databaseUrl, statements.join(' UNION ALL '))
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
    const own = usage.flatMap((form) => {
      const such = lines.filter((line) => isOf(form, line))
      expect(such, form).not.toEqual([])
      return such
    })
    for (const option of options) expect(own.join()).toContain(` --${option.replace('=', '')}`)
  }

  const dueJobs = 'SELECT FROM graphile_worker._private_jobs WHERE run_at <= now()'
  await expect.poll(() => executeOn(app.databaseUrl, dueJobs)).toEqual([])
  const before = await digest()
  for (const line of lines) {
    const { out, err } = await runHere(env, [...line.split(' '), '--dry-run', '--json'])
    expect(JSON.parse(out), line).not.toHaveProperty('error')
    expect(err, line).toContain('ничего не изменено')
  }
  expect(await digest()).toEqual(before)
})
