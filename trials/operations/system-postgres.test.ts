import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { endChild, untilReady } from '../../server/testing/process/child-process.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { asRoot as test } from './deploy-file.ts'
import { openMachine, SETUP } from './machine-without-systemd.ts'
import { debiansPostgres } from './own-postgres.ts'

const HERE = '/opt/vslukh/current'
// Unlike runuser, setpriv does not kill a server that stops slowly.
const AS_WALL = `setpriv --reuid vslukh --regid vslukh --clear-groups env LOG_LEVEL=silent DATA_DIR=/var/lib/vslukh ${HERE}/bin/run-node`
const DATABASE_URL = 'postgresql://vslukh@localhost:5432/vslukh?host=/var/run/postgresql'

/** A machine with Debian's PostgreSQL, whose users sign in by their names. */
async function openMachineWithPostgres() {
  const programs = await debiansPostgres()
  const machine = await openMachine()
  const as = 'runuser -u postgres --'
  const control = `${as} ${programs}/pg_ctl -D /var/lib/postgresql/data -w`
  const made = await machine.call(`sh -ec '
    chown vslukh /var/backups/vslukh
    install -d -o postgres /var/lib/postgresql /var/run/postgresql
    ${as} ${programs}/initdb -D /var/lib/postgresql/data --auth=peer --locale=C >/dev/null
    ${control} -l /var/lib/postgresql/log -o "-c listen_addresses= -k /var/run/postgresql" start'`)
  expect(made, made.err).toMatchObject({ code: 0 })
  onTestFinished(async () => void (await machine.call(`${control} -m immediate stop`)))
  const start = async () => {
    const server = machine.spawn(`${AS_WALL} --env-file=/etc/vslukh.env ${HERE}/server/main.ts`)
    onTestFinished(() => endChild(server))
    await untilReady(server)
    return () => endChild(server, 'SIGTERM')
  }
  const setUp = async () => {
    const who = ['--name', 'Ольга', '--contact', 'olga@example.org']
    const { out } = await machine.call(SETUP, 'wall.example', ...machine.smtp, ...who, '--json')
    const { findings } = JSON.parse(out) as { findings: { check: string; message: string }[] }
    return findings.find(({ check }) => check === 'database')
  }
  const settings = join(machine.folder, 'etc/vslukh.env')
  await appendFile(settings, `PORT=${await freePort()}\n`)
  return { ...machine, settings, start, setUp }
}

test('setup makes the wall’s role and database in the machine’s PostgreSQL, the server works with them as its own user, its backups are verified by the same PostgreSQL, and a second run changes nothing', async () => {
  const { folder, settings, start, setUp, call } = await openMachineWithPostgres()
  expect(await setUp()).toMatchObject({ level: 'ok', message: expect.stringContaining(' 15.') })
  const text = await readFile(settings, 'utf8')
  expect(parseEnv(text)).toMatchObject({ DATABASE_URL })
  const { mode, uid } = await stat(join(folder, 'var/lib/vslukh/app-secret'))
  expect([mode & 0o777, uid]).toEqual([0o600, 4321])

  const stop = await start()
  expect((await call(`${HERE}/bin/vslukh status --json`)).out).toContain('"nodes": 1')
  const copy = '/var/backups/vslukh/own.backup'
  expect(await call(`${HERE}/bin/vslukh backup ${copy}`)).toMatchObject({ code: 0 })
  const verified = await call(`${HERE}/bin/vslukh verify ${copy} --json`)
  expect(JSON.parse(verified.out), verified.err).toMatchObject({ postgres: '15', isNoted: true })
  await stop()
  expect(await setUp()).toMatchObject({ level: 'ok' })
  expect(await readFile(settings, 'utf8')).toBe(text)
})

test('setup leaves an embedded wall alone, and names the command that moves it', async () => {
  const { settings, start, setUp } = await openMachineWithPostgres()
  await (await start())()
  expect(await setUp()).toMatchObject({
    level: 'warning',
    fix: expect.stringContaining('vslukh move-database'),
  })
  expect(parseEnv(await readFile(settings, 'utf8'))).not.toHaveProperty('DATABASE_URL')
})
