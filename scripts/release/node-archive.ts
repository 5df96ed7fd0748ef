import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

const ARCHIVE = /^(node-v(\d+\.\d+\.\d+)-(\w+-\w+))\.tar\.[xg]z$/

/** Its message is a Russian sentence. */
export class ArchiveError extends Error {}

type Wanted = { folder: string; platform: string; oldest: string }

/**
 * Unpacks the program of an official Node archive into a folder, and writes the archive's SHA-256
 * beside it. Throws ArchiveError for any other file.
 */
export async function unpackNode(
  file: string,
  { folder, platform, oldest }: Wanted,
): Promise<{ version: string; sha256: string }> {
  const [, name = '', version = '', own] = ARCHIVE.exec(basename(file)) ?? []
  if (own === undefined) {
    throw new ArchiveError(`${file}: нужен архив node-vВЕРСИЯ-${platform}.tar.xz с nodejs.org`)
  }
  if (own !== platform)
    throw new ArchiveError(`${file}: архив для ${own}, а выпуск — для ${platform}`)
  if (isOlder(version, oldest)) throw new ArchiveError(`${file}: старше Node ${oldest} из npm`)
  const bytes = await readFile(file).catch((cause) => {
    throw new ArchiveError(`Архив Node не прочитан: ${file}`, { cause })
  })
  await mkdir(folder, { recursive: true })
  const files = ['bin/node', 'LICENSE'].map((path) => `${name}/${path}`)
  const unpack = ['-xf', file, '-C', folder, '--strip-components=1', ...files]
  await execute('tar', unpack).catch((cause) => {
    throw new ArchiveError(`${file}: архив повреждён или в нём нет ${files.join(' и ')}`, { cause })
  })
  if (platform === `${process.platform}-${process.arch}`) {
    const { stdout } = await execute(join(folder, 'bin/node'), ['--version'])
    if (stdout.trim() !== `v${version}`)
      throw new ArchiveError(`${file}: внутри Node ${stdout.trim()}`)
  }
  const sha256 = hash('sha256', bytes)
  await writeFile(join(folder, 'SHA256SUMS'), `${sha256}  ${basename(file)}\n`)
  return { version, sha256 }
}

const isOlder = (version: string, oldest: string) =>
  version.localeCompare(oldest, 'en', { numeric: true }) < 0
