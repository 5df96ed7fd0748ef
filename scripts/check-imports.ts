import { resolve } from 'node:path'
import { findViolations, type Violation } from './imports/rules.ts'
import { readSourceTree } from './imports/sources.ts'

export type ImportReport = {
  files: number
  imports: number
  counts: Record<string, number>
  violations: Violation[]
}

/**
 * Checks every import under `root` against the arrows of the design. Throws an Error where there
 * was nothing to look at.
 */
export function checkImports(root: string): ImportReport {
  const tree = readSourceTree(root)
  const files = [...tree.files.values()]
  const imports = files.reduce((sum, file) => sum + file.imports.length, 0)
  if (imports === 0) throw new Error('no import to look at')
  return { files: files.length, imports, counts: tree.counts, violations: findViolations(tree) }
}

if (import.meta.main) {
  const { files, imports, counts, violations } = checkImports(resolve(process.argv[2] ?? '.'))
  for (const { where, rule, message } of violations) console.error(`${where}  ${rule}  ${message}`)
  const places = Object.entries(counts).map(([area, count]) => `${area} ${count}`)
  console.log(`imports: ${files} files (${places.join(', ')}), ${imports} imports read`)
  if (violations.length > 0) {
    console.error(`imports: ${violations.length} against the design`)
    process.exitCode = 1
  }
}
