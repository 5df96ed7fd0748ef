import { inject } from 'vitest'
import { executeOn } from '../../server/testing/database/databases.ts'

// Stryker ends a run at its first failure, so that test files leave their databases. After some
// hundred mutants these would fill the memory that keeps the files of tests.
const server = inject('databaseUrl')
const left = await executeOn<{ name: string }>(
  server,
  String.raw`SELECT datname AS name FROM pg_database WHERE datname LIKE 'test\_%'`,
)
for (const { name } of left) await executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`)
