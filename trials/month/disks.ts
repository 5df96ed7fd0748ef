import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Less than the product needs to write anything larger than a few pages. */
const LEFT_BYTES = 4 << 20

/** Folders on disks of their own, which can be filled. Only root can mount them. */
export class Disks {
  readonly #mounted: string[] = []

  /** Makes a folder. Returns whether it is a disk of its own. */
  add(folder: string, megabytes: number): boolean {
    mkdirSync(folder, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
      this.#mounted.push(folder)
      return true
    } catch {
      return false
    }
  }

  has(folder: string): boolean {
    return this.#mounted.includes(folder)
  }

  /** Fills a disk. Returns the function that frees it. */
  async fill(folder: string): Promise<() => void> {
    const file = join(folder, 'ballast')
    const { bavail, bsize } = statfsSync(folder)
    const all = `fallocate -l ${bavail * bsize - LEFT_BYTES} "$0"; head -c ${2 * LEFT_BYTES} /dev/zero >> "$0"`
    await run('sh', ['-c', all, file]).catch(() => {})
    return () => rmSync(file, { force: true })
  }

  remove(): void {
    for (const folder of this.#mounted) execFileSync('umount', ['--lazy', folder])
  }
}
