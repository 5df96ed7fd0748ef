import { hash } from 'node:crypto'
import type { Queryable } from '../../kernel/db/database.ts'

/** Keeps a text to which somebody consents. Returns its version. */
export async function storeConsentText(tx: Queryable, text: string): Promise<string> {
  const version = hash('sha256', text).slice(0, 12)
  await tx
    .insertInto('consent_texts')
    .values({ version, text })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return version
}
