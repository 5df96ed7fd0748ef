import type { TestProject } from 'vitest/node'
import { executeOn, TEMPLATE, withDatabase } from '../../server/testing/database/databases.ts'

/** Changes the template of test databases, if the mutant is one of SQL. */
export async function setup({ vitest }: TestProject): Promise<void> {
  const { MUTANT_SQL } = process.env
  if (!MUTANT_SQL) return
  const { databaseUrl } = vitest.getRootProject().getProvidedContext()
  await executeOn(withDatabase(databaseUrl, TEMPLATE), MUTANT_SQL)
}
