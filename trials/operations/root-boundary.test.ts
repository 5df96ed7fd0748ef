import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { writeForWall } from '../../operator/setup/settings-file.ts'
import { folderForTest, asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { run } from './deploy-file.ts'
import { openMachine } from './machine-without-systemd.ts'

const SERVICE_UID = 4321
const NOBODY = 65_534
const NAMELESS = 54_321

/** A machine with an installed wall. `shell` runs a line as root, and returns what it prints. */
async function openInstalled() {
  const { folder, call } = await openMachine()
  await writeFile(join(folder, 'etc/vslukh.env'), 'PORT=3999\n')
  const shell = async (line: string) => (await call('sh -c', `exec 2>&1; ${line}`)).out
  return { folder, shell }
}

const VSLUKH = '/opt/vslukh/current/bin/vslukh'

test('commands that change the machine use no cache of the service’s user, and the others run as that user', async () => {
  const { folder, shell } = await openInstalled()
  const cache = join(folder, 'var/cache/vslukh')
  await mkdir(cache, { recursive: true })
  await run('chown', [`${SERVICE_UID}`, cache])
  expect(await shell(`XDG_CACHE_HOME=/var/cache/vslukh ${VSLUKH} setup --help`)).toContain('setup')
  expect(await readdir(cache)).toEqual([])
  expect(await shell(`${VSLUKH} status --help`)).toContain('status')
  expect(await readdir(cache)).toEqual(['vslukh'])
  expect(await shell('stat -c %u /var/cache/vslukh/vslukh')).toBe(`${SERVICE_UID}\n`)
})

test('a user who may not read the settings or a file is told so, and so is one without a name', async () => {
  const { folder, shell } = await openInstalled()
  const as = (uid: number, line: string) =>
    shell(`setpriv --reuid ${uid} --regid ${uid} --clear-groups env -u USER HOME=/ ${line}`)
  const settings = join(folder, 'etc/vslukh.env')
  await run('chown', [`0:${SERVICE_UID}`, settings])
  await run('chmod', ['640', settings])
  expect(await as(NOBODY, `${VSLUKH} status`)).toMatch(
    /^Настройки в .* пользователя nobody .* через sudo .*\n$/,
  )
  expect(await as(NOBODY, `${VSLUKH} --help`)).toContain('status')
  await writeFile(join(folder, 'etc/root.backup'), '', { mode: 0o600 })
  expect(await shell(`${VSLUKH} verify /etc/root.backup`)).toMatch(
    /^Файл .*root\.backup не открывается: у пользователя vslukh нет на это права\. /,
  )
  expect(await as(NAMELESS, `DATA_DIR=/var/none ${VSLUKH} backup`)).toContain('нет базы данных')
})

test('a command that root starts as the service’s user shares no terminal with root, with and without pipes', async () => {
  const { folder, shell } = await openInstalled()
  // In place of Node: prints the controlling terminal of its process.
  const tty = '#!/bin/sh\nps -o tty= -p $$\n[ -t 0 ] || cat\n'
  await writeFile(join(folder, 'opt/vslukh/current/bin/run-node'), tty)
  const inTerminal = (line: string) => shell(`script -qec "tty; ${line}" /dev/null`)
  const terminals = (await inTerminal(`${VSLUKH} status`)).match(/pts\/\d+/g)
  expect(new Set(terminals).size).toBe(2)
  const piped = await inTerminal(`echo typed | ${VSLUKH} status | cat`)
  expect(piped).toMatch(/pts\/\d+[^?]*\?\s+typed/)
})

// In place of Node, for all but root: notes its terminal, and names a file of root as its backup.
const FAKE = `#!/bin/sh
[ "$(id -u)" != 0 ] || exec "$0-of-root" "$@"
ps -o tty= -p $$ >>/var/lib/vslukh/terminals
case "$*" in
  *' status '*) echo '{"nodes":0}' ;;
  *' backup '*) echo '{"file":"/etc/of-root"}' ;;
  *) echo '{"error":"Не вышло"}' ;;
esac
`

test('the commands that a move of the database runs as the service’s user share no terminal with root, and root removes no file that they name', async () => {
  const { folder, shell } = await openInstalled()
  const bin = join(folder, 'opt/vslukh/current/bin')
  await rename(join(bin, 'run-node'), join(bin, 'run-node-of-root'))
  await writeFile(join(bin, 'run-node'), FAKE, { mode: 0o755 })
  await writeFile(join(folder, 'etc/of-root'), '')
  await writeFile(join(folder, 'etc/vslukh.env'), `APP_SECRET=${'x'.repeat(40)}\n`)
  await mkdir(join(folder, 'var/lib/vslukh/postgres'))
  await writeFile(join(folder, 'var/lib/vslukh/postgres/PG_VERSION'), '18\n')
  const move = `${VSLUKH} move-database postgresql://wall@127.0.0.1/wall --yes`
  expect(await shell(`script -qec "${move}" /dev/null`)).toContain('Не вышло')
  expect(await readFile(join(folder, 'var/lib/vslukh/terminals'), 'utf8')).toBe('?\n?\n?\n')
  expect(await readdir(join(folder, 'etc'))).toContain('of-root')
})

test('root writes no file into a folder that another user may change, and follows no link there', async () => {
  const folder = await folderForTest()
  const secret = join(folder, 'secret')
  await writeFile(secret, 'root’s')
  const own = join(folder, 'own')
  await mkdir(own)
  await symlink(secret, join(own, 'dkim.pem.new'))
  await run('chown', [`${SERVICE_UID}`, own])
  await expect(writeForWall(join(own, 'dkim.pem'), 'key', SERVICE_UID)).rejects.toThrow(
    'может изменить не только root',
  )
  expect(await readFile(secret, 'utf8')).toBe('root’s')
  expect(await readdir(own)).toEqual(['dkim.pem.new'])
})
