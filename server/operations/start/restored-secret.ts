import { constants, copyFile } from 'node:fs/promises'
import {
  isSameSecret,
  readStoredSecret,
  secretFile,
  storeAppSecret,
} from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import { ifExists } from '../../kernel/config/read-if-exists.ts'
import { removePath } from '../../kernel/config/replace-file.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { makeDataDir } from './data-dir.ts'

export type SecretSource = Pick<Config, 'appSecret' | 'acceptNewSecret' | 'dataDir'>

/** Whether the backup's secret is put into DATA_DIR, is known already, or is missing. */
export type SecretOutcome = 'placed' | 'same' | 'missing'

/** Throws StartError if APP_SECRET is not the backup's, unless ACCEPT_NEW_SECRET is set. */
export async function planSecretRestore(
  secret: string | null,
  { appSecret, acceptNewSecret, dataDir }: SecretSource,
): Promise<SecretOutcome> {
  if (appSecret === undefined) {
    if (secret === null) return 'missing'
    return (await readStoredSecret(dataDir)) === secret ? 'same' : 'placed'
  }
  if (secret === null || acceptNewSecret || isSameSecret(appSecret, secret)) return 'same'
  throw new StartError(
    'APP_SECRET не тот, что в копии. Уберите его или задайте прежний; если его сменили намеренно, ' +
      'повторите с ACCEPT_NEW_SECRET=1: всем придётся войти снова.',
  )
}

/** Puts the secret into DATA_DIR. The secret of a replaced wall stays there as app-secret.old-…. */
export async function placeAppSecret(secret: string, dataDir: string): Promise<void> {
  await makeDataDir(dataDir)
  const path = secretFile(dataDir)
  const kept = `${path}.old-${Date.now()}`
  // A copy, so that the former wall has its secret if the new one cannot be stored.
  await ifExists(copyFile(path, kept, constants.COPYFILE_EXCL))
  await storeAppSecret(dataDir, secret).catch(async (cause) => {
    await removePath(kept)
    throw cause
  })
}
