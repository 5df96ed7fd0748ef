import { posix } from 'node:path'
import { ARROWS, DRAWER_NAMES, PACKAGE_RULES, PRIVATE_FILES, TYPE_ARROWS } from './arrows.ts'
import { findCycles } from './cycles.ts'
import type { Import } from './parse.ts'
import { isPure, loadsSchemas } from './reach.ts'
import { resolveRelative, type SourceFile, type SourceTree } from './sources.ts'
import { type Zone, zoneOf, zoneSeenFrom } from './zones.ts'

export type Violation = { rule: string; where: string; message: string }

type Edge = { from: SourceFile; zone: Zone; to: string; edge: Import }

/** Everything in the tree that breaks the design, in the order of the files. */
export function findViolations(tree: SourceTree): Violation[] {
  const found: Violation[] = []
  for (const file of tree.files.values()) {
    found.push(...judgeFile(file))
    for (const edge of file.imports) found.push(...judgeImport(tree, file, edge))
  }
  for (const cycle of findCycles(fileGraph(tree))) {
    found.push(violation('cycle', cycle[0] ?? '', cycle.join(' → ')))
  }
  return found
}

function judgeFile(file: SourceFile): Violation[] {
  const found: Violation[] = []
  const { path, syntaxError } = file
  if (syntaxError) found.push(violation('syntax', path, syntaxError))
  if (!zoneOf(path)) found.push(violation('place', path, 'the design has no such place'))
  if (file.reExportsOnly) found.push(violation('barrel', path, 'only passes on other files’ names'))
  const drawer = path.split(/[/.-]/).find((word) => DRAWER_NAMES.has(word))
  if (drawer) found.push(violation('drawer', path, `“${drawer}” says nothing of what is inside`))
  return found
}

function judgeImport(tree: SourceTree, from: SourceFile, edge: Import): Violation[] {
  const where = `${from.path}:${edge.line}`
  const zone = zoneOf(from.path)
  if (!zone) return []
  if (edge.specifier === null) {
    if (zone.name === 'tool' || zone.name.endsWith(' test')) return []
    return [
      violation('computed', where, 'a path made at run time cannot be checked: name the file'),
    ]
  }
  const to = resolveRelative(from.path, edge.specifier)
  if (to === null) return judgePackage(zone, edge, where)
  if (!posix.extname(to)) {
    return [violation('extension', where, `“${edge.specifier}” does not name its extension`)]
  }
  if (!tree.has(to)) return [violation('missing', where, `there is no ${to}`)]
  return [judgeArrow, judgePrivate, judgeSchemas, judgePurity]
    .map((judge) => judge(tree, { from, zone, to, edge }))
    .filter((message) => message !== null)
    .map(([rule, message]) => violation(rule, where, message))
}

function judgePackage(zone: Zone, edge: Import, where: string): Violation[] {
  const name = edge.specifier ?? ''
  return PACKAGE_RULES.filter(
    (rule) =>
      rule.zones.test(zone.name) &&
      (rule.typesToo || !edge.typeOnly) &&
      rule.packages.test(name) === (rule.verdict === 'never'),
  ).map((rule) => violation('package', where, `${name}: ${rule.why}`))
}

type Judgement = readonly [rule: string, message: string] | null

function judgeArrow(_tree: SourceTree, { from, zone, to, edge }: Edge): Judgement {
  const target = zoneOf(to)
  // Configuration at the root of the repository is nobody's to import but a tool's.
  if (!target) return zone.name === 'tool' ? null : ['arrow', `${to} stands outside the design`]
  const seen = zoneSeenFrom(zone, target)
  if (ARROWS[zone.name]?.includes(seen)) return null
  if (!TYPE_ARROWS[zone.name]?.includes(seen)) {
    return ['arrow', `${from.path} may not import ${to}`]
  }
  return edge.typeOnly ? null : ['arrow', `${from.path} may import only types from ${to}`]
}

function judgePrivate(_tree: SourceTree, { from, zone, to }: Edge): Judgement {
  const importers = PRIVATE_FILES[to]
  if (!importers || importers.includes(from.path) || zone.name.endsWith('test')) return null
  return ['private', `only ${importers.join(', ')} may import ${to}`]
}

function judgeSchemas(tree: SourceTree, { zone, to, edge }: Edge): Judgement {
  if (!zone.name.startsWith('web/') || edge.typeOnly || !to.startsWith('contract/')) return null
  return loadsSchemas(tree, to) ? ['schemas', `${to} loads typebox: use import type`] : null
}

function judgePurity(tree: SourceTree, { zone, to, edge }: Edge): Judgement {
  if (zone.name !== 'web/ui' || edge.typeOnly || !to.startsWith('web/lib/')) return null
  return isPure(tree, to)
    ? null
    : ['purity', `${to} is no pure helper: pass what it gives as a prop`]
}

/** Edges of types count: files that need each other's types cannot be read one after the other. */
function fileGraph(tree: SourceTree): Map<string, string[]> {
  const graph = new Map<string, string[]>()
  for (const { path, imports } of tree.files.values()) {
    const targets = imports.map((edge) => edge.specifier && resolveRelative(path, edge.specifier))
    graph.set(
      path,
      targets.filter((to) => typeof to === 'string' && tree.files.has(to)) as string[],
    )
  }
  return graph
}

function violation(rule: string, where: string, message: string): Violation {
  return { rule, where, message }
}
