import { spawn } from 'node:child_process'
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { certificateForTest } from '../../server/testing/http/certificate.ts'
import { endChild, untilReady } from '../../server/testing/process/child-process.ts'
import { folderForTest, asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { startMain } from '../../server/testing/process/start-main.ts'
import { type Dialog, ROOT, run, talk } from './deploy-file.ts'
import { openMachine, SETUP } from './machine-without-systemd.ts'
import { createPostgres, debiansPostgres, giveToPostgres } from './own-postgres.ts'

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

test('an address without the password, or with TLS that fails, is refused with a sentence; the command ends at once', async () => {
  const postgres = await createPostgres()
  await writeFile(join(postgres.data, 'pg_hba.conf'), 'host all all all scram-sha-256\n')
  await postgres.start()
  const address = new URL(postgres.superuser)
  const APP_SECRET = 's'.repeat(32)
  const refusal = async () => {
    const began = performance.now()
    const { code, err } = await runCommand({ DATABASE_URL: address.href, APP_SECRET }, 'status')
    expect(code).toBe(1)
    // PostgreSQL waits a minute for the answer to its question for a password.
    expect(performance.now() - began).toBeLessThan(30_000)
    return err
  }
  expect(await refusal()).toMatch(/^DATABASE_URL: .*требует пароль.*\n$/)
  address.searchParams.set('sslmode', 'verify-full')
  expect(await refusal()).toMatch(/^DATABASE_URL: .*без TLS.*\n$/)
  const { key, cert } = await certificateForTest(1)
  for (const [name, text] of Object.entries({ key, crt: cert })) {
    const path = join(postgres.data, `server.${name}`)
    await writeFile(path, text, { mode: 0o600 })
    await giveToPostgres(path)
  }
  await postgres.kill()
  await postgres.configure('ssl = on')
  await postgres.start()
  expect(await refusal()).toMatch(/^DATABASE_URL: .*сертификат.*sslrootcert.*\n$/)
})

test('the machine’s psql opens the embedded database, whose folder may have a space in its name, and takes the printed address', async () => {
  await debiansPostgres()
  const DATA_DIR = join(await folderForTest(), 'the data')
  await startMain({ DATA_DIR })
  const vslukh = `${ROOT}/bin/vslukh psql`
  const statement = `SELECT 'answer ' || 6 * 7;`
  const env = { ...process.env, DATA_DIR, PAGER: 'cat' }
  const { stdout } = await run('sh', ['-c', `psql "$(${vslukh})" -c "${statement}"`], { env })
  expect(stdout).toContain('answer 42')
  const terminal = spawn('sh', ['-c', `script -qec '${vslukh}' /dev/null`], { env })
  const dialog: Dialog = [
    [/vslukh=[>#] /, statement],
    [/answer 42[\s\S]*vslukh=[>#] /, '\\q'],
  ]
  expect(await talk(terminal, dialog)).toContain('answer 42')
})
