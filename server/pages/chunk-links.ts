import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the build says of one of its files (Vite's manifest, by the file's source). */
type Chunk = { file: string; isEntry?: boolean; imports?: string[] }
type Manifest = Record<string, Chunk>

/**
 * Links by which the browser fetches the scripts of a lazy source, such as `pages/post-page.tsx`, along with those that every
 * page needs and not after them; the one style sheet is among the latter. Empty where the build left no manifest.
 */
export async function linksTo(source: string, folder: string): Promise<string> {
  const path = join(folder, '.vite/manifest.json')
  if (!existsSync(path)) return ''
  const manifest: Manifest = JSON.parse(await readFile(path, 'utf8'))
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry)
  const everywhere = reach(manifest, entry)
  const own = [...reach(manifest, source)].filter((chunk) => !everywhere.has(chunk))
  return own.map(({ file }) => `<link rel="modulepreload" crossorigin href="/${file}">`).join('')
}

/** A chunk and all that it imports before it runs. */
function reach(manifest: Manifest, name: string | undefined, seen = new Set<Chunk>()): Set<Chunk> {
  const chunk = name === undefined ? undefined : manifest[name]
  if (!chunk || seen.has(chunk)) return seen
  seen.add(chunk)
  for (const imported of chunk.imports ?? []) reach(manifest, imported, seen)
  return seen
}
