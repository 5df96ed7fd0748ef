import { open, readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { judge, monthName, PARTS, type Part } from '../server/operations/doctor/parts.ts'
import { listPackages, nodeLibrary } from './release.ts'

const ROOT = join(import.meta.dirname, '..')
/** The first bytes of ELF, Mach-O and WebAssembly. */
const NATIVE = /^(?:7f454c46|cffaedfe|cafebabe|0061736d)/

type Found = { part: Part; version: string; released: string | undefined; path: string }

/**
 * Finds the native parts in the folder of an unpacked release; by default those of the release that
 * this checkout would make. Throws Error for a native file that PARTS does not list.
 */
export async function findParts(release = ROOT): Promise<Found[]> {
  // An unpacked release already contains the library, in the folder of Node.
  const library = release === ROOT ? await nodeLibrary() : undefined
  const files = library === undefined ? [] : [library]
  for (const folder of await listPackages())
    files.push(...(await listNative(join(release, folder))))
  const unknown = files.find((file) => !PARTS.some((part) => part.files.test(file)))
  if (unknown !== undefined) throw new Error(`Файла нет ни в одной строке PARTS: ${unknown}`)
  const found: Found[] = []
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
    if (NATIVE.test(await firstBytes(path))) native.push(path)
  }
  return native
}

async function firstBytes(path: string): Promise<string> {
  await using file = await open(path)
  const { buffer } = await file.read({ buffer: Buffer.alloc(4) })
  return buffer.toString('hex')
}

async function readVersion(part: Part, files: string[], release: string): Promise<Found> {
  for (const file of files) {
    const path = relative(release, file)
    if (!part.version) {
      const { version } = JSON.parse(await readFile(join(release, packageOf(path)), 'utf8'))
      return { part, path, version, released: part.released(version) }
    }
    const match = part.version.exec(await readFile(file, 'latin1'))
    if (!match) continue
    const { date } = match.groups ?? {}
    const numbers = match.slice(1).filter((text) => text !== date)
    const version = numbers.map((text) => text.replace(/^0(?=\d)/, '')).join('.')
    const released = date === undefined ? part.released(version) : monthOf(date)
    return { part, path, version, released }
  }
  throw new Error(`Версия не найдена: ${part.name}, ${files.join(', ')}`)
}

const packageOf = (path: string) =>
  `${/^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]}/package.json`

const monthOf = (date: string) => new Date(`${date} UTC`).toISOString().slice(0, 7)

if (import.meta.main) {
  for (const { part, version, released, path } of await findParts(process.argv[2])) {
    const state = judge(part, { version, released })
    const from = released === undefined ? '' : ` из ${monthName(released)}`
    const mark = { fresh: '✓', known: '!', old: '✗', undated: '✗' }[state]
    const words = {
      fresh: '',
      known: `: старая, новее в npm нет. ${part.wayRound}`,
      old: `: старше ${part.days} дней. ${part.wayRound}`,
      undated: ': её дата неизвестна, впишите её в PARTS',
    }[state]
    console.log(`${mark} ${part.name} ${version}${from}, ${path}${words}`)
    if (mark === '✗') process.exitCode = 1
  }
}
