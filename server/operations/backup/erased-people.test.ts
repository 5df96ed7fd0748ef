import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import { areTransitionsDone, comeBack, leave } from '../../testing/calls/account-deletion-calls.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForTest, startTestApp } from '../../testing/test-app.ts'

/** Starts a wall whose operator has a folder for backups, with four people. */
async function wallForTest() {
  const [DATA_DIR, databaseUrl] = [await folderForTest(), await databaseForTest()]
  const BACKUP_DIR = join(DATA_DIR, 'backups')
  await mkdir(BACKUP_DIR)
  const config = { dataDir: DATA_DIR, backupDir: BACKUP_DIR }
  const app = await startTestApp({ databaseUrl, config })
  const [olga, petr, masha, ivan] = await Promise.all([1, 2, 3, 4].map(() => app.signUp()))
  if (!olga || !petr || !masha || !ivan) throw new Error('four people')
  const env = { ...envOf(app), DATA_DIR, BACKUP_DIR }
  const list = join(DATA_DIR, 'deletions.jsonl')
  /** The number of deleted accounts in the list, to which a job adds them. */
  const countListed = async () => new Set((await readIfExists(list))?.match(/"id":"\d+"/g)).size
  return { app, olga, petr, masha, ivan, env, countListed, file: join(BACKUP_DIR, 'wall.backup') }
}

test('a restore deletes the accounts again that were deleted after the backup, keeps returned ones, and reports both', async () => {
  const { app, olga, petr, masha, ivan, env, countListed, file } = await wallForTest()
  const post = await app.publish(petr, 'Меня уже нет')
  await leave(app, ivan)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  expect(await runHere(env, ['backup', file])).toMatchObject({ code: 0 })
  await leave(app, olga)
  await comeBack(app, ivan.email, true)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  await expect.poll(countListed).toBe(2)
  const erased = await runHere(env, ['user', petr.username, 'erase', '--yes'])
  expect(erased).toMatchObject({ code: 0, out: `Аккаунт ${petr.username} стёрт.\n` })
  await app.close()

  const list = await readFile(join(env.DATA_DIR, 'deletions.jsonl'), 'utf8')
  for (const { username, email } of [olga, petr, ivan]) {
    expect(list).not.toContain(username)
    expect(list).not.toContain(email)
  }
  // What a crash has cut off in the middle spoils nothing else.
  await appendFile(join(env.BACKUP_DIR, 'deletions.jsonl'), '{"id":"1"')
  const restored = await runHere(env, ['restore', file, '--replace', '--yes'])
  expect(restored).toMatchObject({ code: 0, err: '' })
  expect(restored.out).toContain('Удалены после копии и снова удалены: 2 аккаунта.\n')
  expect(restored.out).toContain('Сессий вернулось: 1, и те, что закрыли после копии.\n')

  const again = await appForTest({ databaseUrl: app.databaseUrl })
  const left = await again.sql<{ id: string }>`SELECT id FROM users WHERE deleted_at IS NULL`
  expect(new Set(left.map(({ id }) => id))).toEqual(new Set([masha.id, ivan.id]))
  expect((await again.call('GET', `/posts/${post.id}`)).status).toBe(404)
  const current = await again.call('GET', '/users/current', { token: olga.token })
  expect(current.status).toBe(401)
  const untilErased = expect.poll(async () => {
    await areTransitionsDone(again)
    return again.sql`SELECT FROM users WHERE id = ${petr.id}`
  })
  await untilErased.toEqual([])
})

test('a listed deletion does not apply to another account with the same id; without the list the command says that the deleted may be back', async () => {
  const { env, file, app, olga, petr, countListed } = await wallForTest()
  expect(await runHere(env, ['backup', file])).toMatchObject({ code: 0 })
  await app.sql`UPDATE users SET created_at = created_at - interval '1 ms' WHERE id = ${olga.id}`
  await leave(app, olga)
  await leave(app, petr)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  // That says nothing of people without posts: the job that notes them may not have run yet.
  await expect.poll(countListed).toBe(2)
  await app.close()
  expect(await runHere(env, ['restore', file])).toMatchObject({
    code: 1,
    err: expect.stringContaining('добавьте --replace'),
  })
  const restore = ['restore', file, '--replace', '--yes']
  const { out } = await runHere(env, [...restore, '--json'])
  expect(JSON.parse(out)).toMatchObject({ deletedAgain: 1, sessions: 3 })
  for (const folder of [env.DATA_DIR, env.BACKUP_DIR]) await rm(join(folder, 'deletions.jsonl'))
  const { out: unlisted } = await runHere(env, restore)
  expect(unlisted).toContain('кто удалил свой аккаунт после копии, снова на стене.\n')
})
