import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { runCommand, startCommand } from '../../server/testing/run-command.ts'
import { addMigration, copyTree } from './releases.ts'
import { EMAIL, startWall } from './wall-commands.ts'

/** Installs the release after this one, whose migration this one cannot work with. */
async function installNewer(folder: string): Promise<string> {
  const newer = join(folder, 'newer')
  await copyTree(newer)
  await addMigration(newer, { isAdditive: false })
  return newer
}

test('a backup of a newer schema is verified and restored by the newer release alone, which reads those of this one too', async () => {
  const folder = await folderForTest()
  const newer = await installNewer(folder)
  const env = { DATA_DIR: join(folder, 'data') }
  const wall = await startWall(env)
  const user = await wall.client.signIn(EMAIL)
  await wall.client.publish(user, 'Из прошлого')
  await wall.stop()
  const [old, next] = [join(folder, 'old.backup'), join(folder, 'next.backup')]
  expect(await runCommand(env, 'backup', old)).toMatchObject({ code: 0 })
  const verified = { code: 0, out: expect.stringContaining('записей на стене: 1') }
  expect(await startCommand({ root: newer, env: {}, args: ['verify', old] }).ended).toMatchObject(
    verified,
  )

  const nextWall = { DATA_DIR: join(folder, 'next') }
  expect(
    await startCommand({ root: newer, env: nextWall, args: ['restore', old] }).ended,
  ).toMatchObject({ code: 0 })
  expect(
    await startCommand({ root: newer, env: nextWall, args: ['backup', next] }).ended,
  ).toMatchObject({ code: 0 })
  expect(await startCommand({ root: newer, env: {}, args: ['verify', next] }).ended).toMatchObject(
    verified,
  )

  const err = expect.stringMatching(/^База в копии другой версии: 99\.0\.0 \(.*999-next\)/)
  expect(await runCommand({}, 'verify', next)).toMatchObject({ code: 1, out: '', err })
  const empty = { DATA_DIR: join(folder, 'empty') }
  for (const options of [['--dry-run'], []]) {
    expect(await runCommand(empty, 'restore', next, ...options)).toMatchObject({
      code: 1,
      out: '',
      err,
    })
  }
  expect(existsSync(empty.DATA_DIR)).toBe(false)
  const replace = ['restore', next, '--replace', '--yes']
  expect(await runCommand(env, ...replace)).toMatchObject({ code: 1, err })
  expect(await runCommand(env, 'status', '--json')).toMatchObject({ code: 0 })
}, 240_000)
