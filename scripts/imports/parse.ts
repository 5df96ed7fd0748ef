import { type ESTree, parseSync, Visitor } from 'vite'

/** One edge out of a file. `typeOnly` edges vanish when types are stripped; all others run. */
export type Import = { specifier: string | null; typeOnly: boolean; line: number }

export type SourceFacts = {
  imports: Import[]
  /** The file declares nothing of its own: every statement passes somebody else's names on. */
  reExportsOnly: boolean
  /** Names of the browser's globals that the file mentions. */
  browserGlobals: string[]
  syntaxError: string | null
}

const BROWSER_GLOBALS = new Set([
  'window',
  'document',
  'localStorage',
  'sessionStorage',
  'navigator',
  'fetch',
])

/**
 * Parses one TypeScript file into its imports: static, re-exported, dynamic, in a type position,
 * and `import.meta.glob` (as one without a specifier, like a dynamic import of a computed path).
 * A file that does not parse has `syntaxError` set, never silently no imports.
 */
export function parseSourceFile(path: string, text: string): SourceFacts {
  const { program, errors } = parseSync(path, text)
  const imports: Import[] = []
  const globals = new Set<string>()
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const add = (node: ESTree.Node, specifier: string | null, typeOnly: boolean) => {
    imports.push({ specifier, typeOnly, line: lineOf(node.start) })
  }
  new Visitor({
    // `import { type A }` still loads the file when only types are stripped: the kind of the
    // whole declaration decides.
    ImportDeclaration: (node) => add(node, node.source.value, node.importKind === 'type'),
    ExportAllDeclaration: (node) => add(node, node.source.value, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node, node.source.value, node.exportKind === 'type')
    },
    ImportExpression: (node) => add(node, literalValue(node.source), false),
    TSImportType: (node) => add(node, node.source.value, true),
    MemberExpression: (node) => {
      if (node.object.type === 'MetaProperty' && 'name' in node.property) {
        if (node.property.name === 'glob') add(node, null, false)
      }
    },
    Identifier: (node) => {
      if (BROWSER_GLOBALS.has(node.name)) globals.add(node.name)
    },
  }).visit(program)
  return {
    imports,
    reExportsOnly: passesNamesOn(program.body),
    browserGlobals: [...globals],
    syntaxError: errors[0]?.message ?? null,
  }
}

function literalValue(node: ESTree.Expression): string | null {
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null
}

function passesNamesOn(body: ESTree.Program['body']): boolean {
  const exports = body.filter((statement) => statement.type.startsWith('Export'))
  const isPassing = (statement: ESTree.Program['body'][number]) =>
    statement.type === 'ImportDeclaration' ||
    statement.type === 'ExportAllDeclaration' ||
    (statement.type === 'ExportNamedDeclaration' && statement.declaration === null)
  return exports.length > 0 && body.every(isPassing)
}
