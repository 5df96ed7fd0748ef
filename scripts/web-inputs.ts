import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Everything that can change the built web; libraries change only through the lock file. */
const INPUTS = ['contract', 'web', 'package-lock.json', 'vite.config.ts']
const TEST_FILE = /\.test\.tsx?$/

/** A hash of the names and contents of all that the web is built from. Tests do not count. */
export function hashWebInputs(root: string): string {
  const hash = createHash('sha256')
  for (const path of INPUTS.flatMap((input) => listFiles(root, input))) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

function listFiles(root: string, input: string): string[] {
  if (statSync(join(root, input)).isFile()) return [input]
  return readdirSync(join(root, input), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !TEST_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}
