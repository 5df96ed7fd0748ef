import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { deriveKey, loadAppSecret } from './app-secret.ts'
import { ConfigError } from './config-reader.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await folderForTest()
})

test('the first start creates a secret of 256 bits that only its owner can read, and leaves nothing else behind', async () => {
  const secret = await loadAppSecret(dataDir)
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
  expect(await readdir(dataDir)).toEqual(['app-secret'])
  expect((await stat(join(dataDir, 'app-secret'))).mode & 0o777).toBe(0o600)
  // Later starts read it; another installation has its own.
  expect(await loadAppSecret(dataDir)).toBe(secret)
  expect(await loadAppSecret(await folderForTest())).not.toBe(secret)
})

test('a stored secret that was cut short is refused with a message that names its file', async () => {
  await loadAppSecret(dataDir)
  const path = join(dataDir, 'app-secret')
  await writeFile(path, 'short\n')
  await expect(loadAppSecret(dataDir)).rejects.toThrow(ConfigError)
  await expect(loadAppSecret(dataDir)).rejects.toThrow(path)
})

test('each purpose and each secret has a key of its own, of 256 bits', () => {
  const one = deriveKey('s'.repeat(32), 'codes')
  expect(one).toHaveLength(32)
  expect(deriveKey('s'.repeat(32), 'codes')).toEqual(one)
  expect(deriveKey('s'.repeat(32), 'access-token')).not.toEqual(one)
  expect(deriveKey('t'.repeat(32), 'codes')).not.toEqual(one)
})
