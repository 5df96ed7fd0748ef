import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file of the build in Vite's manifest, where its source is the key. */
type Chunk = { file: string; isEntry?: boolean; imports?: string[] }
type Manifest = Record<string, Chunk>

/**
 * Returns links that make the browser preload the scripts of a lazy chunk, such as that of `pages/post-page.tsx`, in parallel
 * with those that every page needs; the style sheet is among the latter. Empty where the build has no manifest.
 */
export async function modulePreloads(source: string, folder: string): Promise<string> {
  const path = join(folder, '.vite/manifest.json')
  if (!existsSync(path)) return ''
  const manifest: Manifest = JSON.parse(await readFile(path, 'utf8'))
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry)
  const common = collectImports(manifest, entry)
  const own = [...collectImports(manifest, source)].filter((chunk) => !common.has(chunk))
  return own.map(({ file }) => `<link rel="modulepreload" crossorigin href="/${file}">`).join('')
}

/** Returns a chunk and everything that it imports statically. */
function collectImports(
  manifest: Manifest,
  name: string | undefined,
  seen = new Set<Chunk>(),
): Set<Chunk> {
  const chunk = name === undefined ? undefined : manifest[name]
  if (!chunk || seen.has(chunk)) return seen
  seen.add(chunk)
  for (const imported of chunk.imports ?? []) collectImports(manifest, imported, seen)
  return seen
}
