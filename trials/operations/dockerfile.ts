import { cp, mkdir, readFile } from 'node:fs/promises'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { ROOT, run } from './deploy-file.ts'

/** One instruction of a Dockerfile, such as `COPY` with `bin bin`. */
type Instruction = { word: string; rest: string }
/** The instructions between a FROM and the next one. */
type Stage = { name: string; instructions: Instruction[] }

/** Returns the stages of the Dockerfile, of which the last is the image. */
export async function readStages(): Promise<Stage[]> {
  const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
  const lines = text.replace(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '')
  const stages: Stage[] = []
  for (const [, word = '', rest = ''] of lines.matchAll(/^([A-Z]+) (.*)$/gm)) {
    if (word === 'FROM') stages.push({ name: / AS (\w+)$/.exec(rest)?.[1] ?? '', instructions: [] })
    else stages.at(-1)?.instructions.push({ word, rest })
  }
  return stages
}

/** Throws if the stage does not contain the instruction exactly once. */
export function argumentsOf({ instructions }: Stage, word: string): string {
  const [found, other] = instructions.filter((instruction) => instruction.word === word)
  if (!found || other) throw new Error(`The Dockerfile needs one ${word}`)
  return found.rest
}

/**
 * Fills a folder with what the image copies from this checkout, and with the packages of the stage
 * `packages`. The web is the one that was built here.
 */
export async function makeImageFolder(stages: Stage[], folder: string): Promise<void> {
  for (const { word, rest } of stages.at(-1)?.instructions ?? []) {
    if (word !== 'COPY') continue
    const [first = '', ...paths] = rest.split(' ')
    const from = /^--from=(\w+)$/.exec(first)?.[1]
    if (!from) await copy([first, ...paths], folder)
    else if (from === 'packages') await install(stages, folder)
    else await copy([paths[0]?.replace('/app/', '') ?? '', paths[1] ?? ''], folder)
  }
}

async function install(stages: Stage[], folder: string): Promise<void> {
  const packages = stages.find(({ name }) => name === 'packages')
  if (!packages) throw new Error('The Dockerfile has no stage packages')
  await copy(argumentsOf(packages, 'COPY').split(' '), folder)
  await run('sh', ['-c', argumentsOf(packages, 'RUN')], { cwd: folder })
}

/** The last path is the target, a folder if there are several sources. */
async function copy(paths: string[], folder: string): Promise<void> {
  const ignored = await ignoredPatterns()
  const target = join(folder, paths.at(-1) ?? '')
  const isFolder = paths.at(-1)?.endsWith('/')
  for (const path of paths.slice(0, -1)) {
    const to = isFolder ? join(target, path.split('/').at(-1) ?? '') : target
    await mkdir(dirname(to), { recursive: true })
    const isWanted = (source: string) =>
      !ignored.some((pattern) => matchesGlob(relative(ROOT, source), pattern))
    await cp(join(ROOT, path), to, { recursive: true, filter: isWanted })
  }
}

async function ignoredPatterns(): Promise<string[]> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).trim().split('\n')
  return lines.slice(lines.findLastIndex((line) => line.startsWith('!')) + 1)
}
