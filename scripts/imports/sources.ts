import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSourceFile, type SourceFacts } from './parse.ts'

/** The folders that hold sources, and those that a checkout must never lack sources in. */
const AREAS = ['contract', 'server', 'web', 'e2e', 'bench', 'scripts'] as const
const MUST_HAVE_FILES = ['contract', 'server', 'web'] as const

const SOURCE = /\.tsx?$/

export type SourceFile = SourceFacts & { path: string }

export type SourceTree = {
  files: Map<string, SourceFile>
  counts: Record<string, number>
  has: (path: string) => boolean
}

/**
 * Reads and parses every TypeScript file under `root`'s source folders; paths are relative to
 * `root` with forward slashes. Throws an Error where contract, server or web holds no file, so that
 * a checker pointed at nothing never passes.
 */
export function readSourceTree(root: string): SourceTree {
  const files = new Map<string, SourceFile>()
  const counts: Record<string, number> = {}
  for (const area of AREAS) {
    const paths = listSources(root, area)
    counts[area] = paths.length
    for (const path of paths) {
      files.set(path, { path, ...parseSourceFile(path, readFileSync(join(root, path), 'utf8')) })
    }
  }
  const empty = MUST_HAVE_FILES.filter((area) => counts[area] === 0)
  if (empty.length > 0) throw new Error(`no TypeScript file to look at in: ${empty.join(', ')}`)
  return { files, counts, has: (path) => existsSync(join(root, path)) }
}

function listSources(root: string, area: string): string[] {
  const directory = join(root, area)
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

/**
 * The file a relative specifier names, as a path from the root without a bundler's `?query`;
 * null for a package, a node: module or an absolute address.
 */
export function resolveRelative(from: string, specifier: string): string | null {
  if (!/^\.{1,2}(\/|$)/.test(specifier)) return null
  return posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
}
