import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts'
import { asSuperuser, createDatabase, executeOn, TEMPLATE, withDatabase } from './databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The one PostgreSQL of a test run; each app gets a database of its own on it. */
    databaseUrl: string
  }
}

/**
 * Starts a real PostgreSQL for the run and migrates the database that others are copied from. The projects that need
 * one share it: the first makes it.
 */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  const root = project.vitest.getRootProject()
  if (root.getProvidedContext().databaseUrl) return undefined
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-test-'))
  const postgres = await startEmbeddedPostgres({
    dataDir,
    say() {},
    onLost(error) {
      throw error
    },
  })
  // The product's own role may not; tests have a database each.
  await executeOn(asSuperuser(postgres.connectionString), 'ALTER ROLE vslukh CREATEDB')
  await createDatabase(postgres.connectionString, TEMPLATE)
  await migrate(withDatabase(postgres.connectionString, TEMPLATE))
  root.provide('databaseUrl', postgres.connectionString)
  return async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
