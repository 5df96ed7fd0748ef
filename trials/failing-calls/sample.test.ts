import { test } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { backupTrial } from './backup-trial.ts'
import { expectRight } from './commands.ts'
import { strace } from './traced-run.ts'

/** A few of the calls of `npm run test:calls`, where strace is there or can be installed. */
test.skipIf(!strace)(
  'a backup whose disk fails, or that is killed, ends in words with no file or a whole one, and leaves nothing',
  { timeout: 300_000 },
  async () => {
    await expectRight(await backupTrial(await folderForTest()))
  },
)
