import { execFile, spawn } from 'node:child_process'
import { appendFile, chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { endChild, untilUp } from '../../server/testing/child-process.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { envOf, runCommand } from '../../server/testing/run-command.ts'
import { startMain } from '../../server/testing/start-main.ts'
import { asRoot, ROOT } from './deploy-file.ts'

const run = promisify(execFile)

const install = (path: string, debianPackage: string) =>
  findProgram([path], { debianPackage, advice: `Install ${debianPackage}` })

/** Starts a wall whose BACKUP_COMMAND is `/etc/vslukh/elsewhere`, in a folder of the test. */
async function startWall() {
  const folder = await folderForTest()
  const [settings, BACKUP_DIR] = [join(folder, 'etc'), join(folder, 'backups')]
  await mkdir(settings)
  await mkdir(BACKUP_DIR)
  await writeFile(join(BACKUP_DIR, 'deletions.jsonl'), '')
  const databaseUrl = await databaseForTest()
  const BACKUP_COMMAND = join(settings, 'elsewhere')
  const env = { ...envOf({ databaseUrl }), DATA_DIR: folder, BACKUP_DIR, BACKUP_COMMAND }
  /** Installs a script with the paths of docs/operations.md. */
  const install = async (script: string) => {
    await writeFile(BACKUP_COMMAND, script.replaceAll('/etc/vslukh', settings))
    await chmod(BACKUP_COMMAND, 0o750)
  }
  const backUp = () => executeOn(databaseUrl, `SELECT graphile_worker.add_job('back-up')`)
  const found = async () => {
    const { findings } = JSON.parse((await runCommand(env, 'doctor', '--json')).out)
    return findings.find(({ check }: { check: string }) => check === 'backup command')
  }
  return { folder, settings, BACKUP_DIR, env, install, backUp, found }
}

/** Returns the script of docs/operations.md that contains these words. */
async function scriptOf(words: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8')
  const scripts = page.match(/^ {4}#!\/bin\/sh -e\n(?: {4}.*\n)+/gm) ?? []
  const script = scripts.find((one) => one.includes(words))
  if (script === undefined) throw new Error(`docs/operations.md has no script with ${words}`)
  return script.replaceAll(/^ {4}/gm, '')
}

const LONG_WAIT = { timeout: 60_000 }

test('the script of age and rclone leaves an encrypted copy elsewhere, which the secret key opens and verify accepts; while elsewhere is away, the doctor shows the reason', async () => {
  await install('/usr/bin/age', 'age')
  await install('/usr/bin/rclone', 'rclone')
  const wall = await startWall()
  const away = join(wall.folder, 'away')
  const key = join(wall.folder, 'secret-key')
  await run('age-keygen', ['-o', key])
  const { stdout } = await run('age-keygen', ['-y', key])
  await writeFile(join(wall.settings, 'age-recipients'), stdout)
  const config = (path: string) =>
    writeFile(join(wall.settings, 'rclone.conf'), `[elsewhere]\ntype = alias\nremote = ${path}\n`)
  await config('/proc/nowhere')
  await wall.install(await scriptOf('rclone'))
  await startMain(wall.env)
  await wall.backUp()
  await expect.poll(wall.found, LONG_WAIT).toMatchObject({ level: 'broken' })
  expect((await wall.found()).message).toMatch(/^последняя копия осталась только здесь, .* код \d/)

  await config(away)
  await wall.backUp()
  await expect.poll(wall.found, LONG_WAIT).toMatchObject({ level: 'ok' })
  const names = (await readdir(join(away, 'wall'))).sort()
  expect(names).toEqual(['deletions.jsonl.age', expect.stringMatching(/^vslukh-.*\.backup\.age$/)])
  const sealed = join(away, 'wall', names[1] ?? '')
  expect(await readFile(sealed, 'latin1')).toMatch(/^age-encryption\.org/)
  const opened = join(wall.folder, 'wall.backup')
  await run('age', ['-d', '-i', key, '-o', opened, sealed])
  expect(await runCommand({}, 'verify', opened)).toMatchObject({ code: 0 })
})

asRoot('the script of rsync leaves the copy on another machine over ssh', async () => {
  await install('/usr/bin/rsync', 'rsync')
  const sshd = await install('/usr/sbin/sshd', 'openssh-server')
  const wall = await startWall()
  const port = await freePort()
  const [hostKey, key] = [join(wall.folder, 'host_key'), join(wall.settings, 'ssh_key')]
  for (const path of [hostKey, key])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  const home = join(wall.folder, 'away')
  await mkdir(home)
  const authorized = join(wall.folder, 'authorized_keys')
  // Runs the caller's command in the home folder of the other machine's user.
  const command = `cd ${home} && mkdir -p wall && sh -c "$SSH_ORIGINAL_COMMAND"`
  await writeFile(
    authorized,
    `command=${JSON.stringify(command)} ${await readFile(`${key}.pub`, 'utf8')}`,
  )
  await mkdir('/run/sshd', { recursive: true })
  const listen = ['-o', `Port=${port}`, '-o', 'ListenAddress=127.0.0.1', '-o', `HostKey=${hostKey}`]
  const server = spawn(sshd, [
    ...['-D', '-e', '-f', '/dev/null', ...listen, '-o', `AuthorizedKeysFile=${authorized}`],
    ...['-o', 'StrictModes=no', '-o', 'PidFile=none'],
  ])
  onTestFinished(() => endChild(server))
  const knownHosts = join(wall.settings, 'known_hosts')
  await untilUp(server, async () => {
    const { stdout } = await run('ssh-keyscan', ['-p', String(port), '127.0.0.1'])
    await appendFile(knownHosts, stdout)
    return stdout !== ''
  })
  await writeFile(
    join(wall.settings, 'ssh_config'),
    `Host elsewhere\n HostName 127.0.0.1\n Port ${port}\n User root\n IdentityFile ${key}\n` +
      ` UserKnownHostsFile ${knownHosts}\n BatchMode yes\n`,
  )
  await wall.install(await scriptOf('rsync'))
  await startMain(wall.env)
  await wall.backUp()
  const copied = async () => (await readdir(join(home, 'wall')).catch(() => [])).sort()
  await expect
    .poll(copied, LONG_WAIT)
    .toEqual(['deletions.jsonl', expect.stringMatching(/^vslukh-.*\.backup$/)])
  expect(await wall.found()).toMatchObject({ level: 'ok' })
})

test('a restart while BACKUP_COMMAND runs leaves no process of it, and the next server runs it again', async () => {
  const wall = await startWall()
  await wall.install('#!/bin/sh -e\necho $$ >> started\nsleep 1000\n')
  const started = async () =>
    (await readFile(join(wall.BACKUP_DIR, 'started'), 'utf8').catch(() => ''))
      .split('\n')
      .slice(0, -1)
  const first = await startMain(wall.env)
  await wall.backUp()
  await expect.poll(started, LONG_WAIT).toHaveLength(1)
  await first.stop()
  const [pid] = await started()
  await expect(readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).resolves.toBe('')
  await startMain(wall.env)
  await expect.poll(started, LONG_WAIT).toHaveLength(2)
})
