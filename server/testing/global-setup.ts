import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../kernel/db/migrate.ts'
import { startEmbeddedPostgres } from '../operations/embedded-postgres/embedded-postgres.ts'
import {
  asSuperuser,
  createDatabase,
  executeOn,
  TEMPLATE,
  withDatabase,
} from './database/databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL server of the test run, on which each app gets its own database. */
    databaseUrl: string
  }
}

/** The projects of a run share one PostgreSQL and the template of test databases. */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  const root = project.vitest.getRootProject()
  if (root.getProvidedContext().databaseUrl) return undefined
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-test-'))
  const postgres = await startEmbeddedPostgres({
    dataDir,
    // Each test file has one product or more, each with its own pool.
    // Hundreds of short databases have nothing to be vacuumed.
    settings: ['max_connections=400', 'fsync=off', 'autovacuum=off'],
    say() {},
  })
  // The product's role may not create databases, but each test needs one.
  await executeOn(asSuperuser(postgres.connectionString), 'ALTER ROLE vslukh CREATEDB')
  await createDatabase(postgres.connectionString, TEMPLATE)
  await migrate(withDatabase(postgres.connectionString, TEMPLATE))
  root.provide('databaseUrl', postgres.connectionString)
  return async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
