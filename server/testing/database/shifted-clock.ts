import { globSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from '../process/debian-package.ts'
import { folderForTest } from '../process/folder-for-test.ts'

/** A process that preloads this library sees another time (Debian package: faketime). */
export async function findFakeTime(): Promise<string> {
  await findProgram(['/usr/bin/faketime'], 'faketime')
  const [library = ''] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  return library
}

/** `shift` sets the wall clock of processes with this `env` ahead by a number of seconds. */
export async function shiftedClock() {
  const library = await findFakeTime()
  const folder = await folderForTest()
  const file = join(folder, 'shift')

  async function shift(seconds: number): Promise<void> {
    await writeFile(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`, { mode: 0o644 })
    await rename(`${file}.new`, file)
  }

  await shift(0)
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    shift,
  }
}
