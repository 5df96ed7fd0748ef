import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { writeForWall } from '../../operator/setup/settings-file.ts'
import { folderForTest, asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { ROOT, run } from './deploy-file.ts'
import { openMachine } from './machine-without-systemd.ts'

const SERVICE_UID = 4321
const NOBODY = 65_534
const NAMELESS = 54_321
const ADMIN = 4400

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
  await writeFile(join(folder, 'var/lib/vslukh/root.backup'), '', { mode: 0o600 })
  expect(await shell(`${VSLUKH} verify /var/lib/vslukh/root.backup`)).toBe(
    'Файл /var/lib/vslukh/root.backup не открывается: у пользователя vslukh нет на это права. Отдайте это ему, chown vslukh, или положите файл в папку root.\n',
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

const BACKUP = join(ROOT, 'server/operations/backup/releases/1.0.0.fixture.backup')

/** Lines that make the homes of root and of an admin, each closed to others, with a backup in it. */
async function homesIn(folder: string): Promise<string> {
  await cp(BACKUP, join(folder, 'var/x.backup'))
  return `mount -t tmpfs -o mode=700 tmpfs /root
mkdir -m 700 /var/masha
for home in /root /var/masha; do cp /var/x.backup $home; chmod 600 $home/x.backup; done
chown -R ${ADMIN}:${ADMIN} /var/masha
cd /root`
}

/** Leaves what a backup of root leaves that is killed. */
const KILLED = `/opt/vslukh/current/bin/run-node --input-type=module -e '
  import { writeFileSync } from "node:fs"
  import { unfinishedPath } from "/opt/vslukh/current/server/kernel/config/replace-file.ts"
  writeFileSync(unfinishedPath("/root/killed.backup"), "")'`

test('root restores, verifies, backs up and exports in folders that the service’s user may not enter, by any name, and a backup removes what killed ones have left', async () => {
  const { folder, shell } = await openInstalled()
  const list = '{"id":"1","registeredAt":"x","deletedAt":null,"notedAt":"x"}'
  const said = await shell(`${await homesIn(folder)}
    echo '${list}' >deletions.jsonl; ln -s /var/masha/x.backup link
    ${VSLUKH} restore x.backup; script -qec '${VSLUKH} verify link' /dev/null | grep -o 'Копия верна'
    ${KILLED}
    ${VSLUKH} backup --dry-run; ${VSLUKH} backup; ${VSLUKH} --json backup out.backup >said.json
    ${VSLUKH} backup out.backup
    ${VSLUKH} people --since 9999d --json >people.json
    name=$(grep -m1 -o '"username": "[^"]*' people.json | cut -d'"' -f4)
    ${VSLUKH} user "$name" export data.zip | sed "s/$name/NAME/"
    SUDO_UID=${ADMIN} ${VSLUKH} restore /var/masha/x.backup --replace --yes
    head -c 2 data.zip; grep file said.json; stat -c '%a %u %n' *.backup *.zip; ls -A | grep -c '^[.].*[.]'`)
  expect(said.replaceAll(/сделан[а-я]+ .*|vslukh-[\dTZ.-]+Z|\([\d,]+ КиБ.*\)/g, '…')).toBe(`\
Создаём базу данных в /var/lib/vslukh/postgres…
Стена возвращена из копии, …
Сессий вернулось: 2, и те, что закрыли после копии.
Кто вошёл после копии, войдёт снова.
Копия верна
Пробный запуск: ничего не изменено.
Копия: /root/….backup
Копия: /root/….backup ….
Не записано: /root/out.backup: такой файл уже есть. Назовите другое место.
Данные пользователя NAME: /root/data.zip
Стена возвращена из копии, …
Списка удалённых аккаунтов (deletions.jsonl) нет ни рядом с копией, ни в DATA_DIR: кто удалил свой аккаунт после копии, снова на стене.
Сессий вернулось: 2, и те, что закрыли после копии.
Кто вошёл после копии, войдёт снова.
PK  "file": "/root/out.backup",
600 0 out.backup
600 0 ….backup
600 0 x.backup
600 0 data.zip
0
`)
})

test('a name that the service’s user may lead elsewhere is used with the rights of that user', async () => {
  const { folder, shell } = await openInstalled()
  const said = await shell(`${await homesIn(folder)}
    as() { setpriv --reuid 4321 --regid 4321 --clear-groups env -u USER HOME=/ "$@"; }
    cd /var/lib/vslukh; as mkdir own; as ln -s /root/x.backup link; as ln -s /root own/root
    mkdir -m 1777 /var/all; as ln -s /root/x.backup /var/all/link
    for file in link own/root/x.backup /var/all/link; do ${VSLUKH} verify $file; done
    ${VSLUKH} --env-file link status
    ${VSLUKH} restore /var/x.backup >/dev/null
    for place in own/root own/mine; do ${VSLUKH} backup $place; done
    ${VSLUKH} setup wall.example --smtp-url-file own/root/x.backup
    stat -c '%u %n' own/mine; ls /root`)
  const refused = 'у пользователя vslukh нет на это права. Отдайте это ему'
  for (const line of [
    `Файл /var/lib/vslukh/link не открывается: ${refused}`,
    `Файл /var/lib/vslukh/own/root/x.backup не открывается: ${refused}`,
    `Файл /var/all/link не открывается: ${refused}`,
    `Настройки в link не прочитаны: ${refused}`,
    'own/root/x.backup: этот файл может подменить не только root',
    '4321 own/mine\nx.backup\n',
  ]) {
    expect(said).toContain(line)
  }
  expect(said).toMatch(new RegExp(`Не записано: /var/lib/vslukh/own/root/.*: ${refused}`))
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
  // The folder of a link leads to one that is root's.
  await mkdir(join(folder, 'roots'))
  await symlink(join(folder, 'roots'), join(own, 'link'))
  await expect(writeForWall(join(own, 'link/sub/dkim.pem'), 'key', SERVICE_UID)).rejects.toThrow(
    'ссылка, а нужна папка',
  )
  expect(await readdir(join(folder, 'roots'))).toEqual([])
  expect(await readFile(secret, 'utf8')).toBe('root’s')
  expect(await readdir(own)).toEqual(['dkim.pem.new', 'link'])
})
