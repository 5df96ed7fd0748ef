import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { asRoot, folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { envOf, runCommand } from '../../server/testing/process/run-command.ts'
import { startMain } from '../../server/testing/process/start-main.ts'
import { programOf, ROOT, run } from './deploy-file.ts'

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
    const text = script.replaceAll('/etc/vslukh', settings)
    await writeFile(BACKUP_COMMAND, text, { mode: 0o750 })
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
  await programOf('age', '/usr/bin/age')
  await programOf('rclone', '/usr/bin/rclone')
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
  await programOf('rsync', '/usr/bin/rsync')
  const sshd = await programOf('openssh-server', '/usr/sbin/sshd')
  const wall = await startWall()
  const [hostKey, key] = [join(wall.folder, 'host_key'), join(wall.settings, 'ssh_key')]
  for (const path of [hostKey, key]) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  }
  const home = join(wall.folder, 'away')
  await mkdir(join(home, 'wall'), { recursive: true })
  const publicKey = (path: string) => readFile(`${path}.pub`, 'utf8')
  // Runs the caller's command in the home folder of the other machine's user.
  const command = `command="cd ${home} && sh -c \\"$SSH_ORIGINAL_COMMAND\\""`
  const authorized = join(wall.folder, 'authorized_keys')
  await writeFile(authorized, `${command} ${await publicKey(key)}`)
  const knownHosts = join(wall.settings, 'known_hosts')
  await writeFile(knownHosts, `elsewhere ${await publicKey(hostKey)}`)
  await mkdir('/run/sshd', { recursive: true })
  // The other machine's server talks over its input and output.
  const files = `-o HostKey=${hostKey} -o AuthorizedKeysFile=${authorized}`
  await writeFile(
    join(wall.settings, 'ssh_config'),
    `Host elsewhere
 ProxyCommand ${sshd} -i -f /dev/null -o StrictModes=no ${files}
 User root
 IdentityFile ${key}
 UserKnownHostsFile ${knownHosts}
 BatchMode yes
`,
  )
  await wall.install(await scriptOf('rsync'))
  await startMain(wall.env)
  await wall.backUp()
  await expect
    .poll(async () => (await readdir(join(home, 'wall'))).sort(), LONG_WAIT)
    .toEqual(['deletions.jsonl', expect.stringMatching(/^vslukh-.*\.backup$/)])
  await expect.poll(wall.found, LONG_WAIT).toMatchObject({ level: 'ok' })
})
