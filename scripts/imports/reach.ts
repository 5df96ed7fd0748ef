import { resolveRelative, type SourceTree } from './sources.ts'

/**
 * Everything that runs when `path` is imported: the file itself, the files it loads and the
 * packages they name. Type-only imports load nothing.
 */
function loadedBy(tree: SourceTree, path: string): { files: string[]; packages: Set<string> } {
  const files = new Set([path])
  const packages = new Set<string>()
  for (const file of files) {
    for (const { specifier, typeOnly } of tree.files.get(file)?.imports ?? []) {
      if (typeOnly || specifier === null) continue
      const target = resolveRelative(file, specifier)
      if (target === null) packages.add(specifier)
      else files.add(target)
    }
  }
  return { files: [...files], packages }
}

/** Whether importing `path` brings the schema library along. */
export function loadsSchemas(tree: SourceTree, path: string): boolean {
  return [...loadedBy(tree, path).packages].some((name) => /^typebox(?:\/|$)/.test(name))
}

/** Whether a file is a pure helper: it loads no package and mentions no global of the browser. */
export function isPure(tree: SourceTree, path: string): boolean {
  const { files, packages } = loadedBy(tree, path)
  const mentions = files.flatMap((file) => tree.files.get(file)?.browserGlobals ?? [])
  return packages.size === 0 && mentions.length === 0
}
