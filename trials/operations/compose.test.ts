import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { executeOn } from '../../server/testing/database/databases.ts'
import { programOf, ROOT, run } from './deploy-file.ts'
import { createPostgres } from './own-postgres.ts'

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
