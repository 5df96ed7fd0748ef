import { parseArgs } from 'node:util'
import type { Command, Values } from './command.ts'
import { UsageError } from './command-errors.ts'

/** Options of every command; those with a value end in `=`. */
const COMMON = ['help', 'version', 'json', 'yes', 'dry-run', 'env-file=', 'as=']

export function optionsOf(commands: Command[]): string[] {
  return [...COMMON, ...commands.flatMap(({ options = [] }) => options)]
}

/**
 * Parses a command line by the options of all commands. Throws UsageError for an unknown option,
 * and for a value that is missing or too much.
 */
export function parseCommandLine(args: string[], commands: Command[]) {
  const types = optionsOf(commands).map((option) => {
    const name = option.replace('=', '')
    const type = option.endsWith('=') ? ('string' as const) : ('boolean' as const)
    return [name, name === 'help' ? { type, short: 'h' } : { type }] as const
  })
  const options = Object.fromEntries(types)
  // Strict parsing says what is wrong in English.
  const parsed = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue
    const type = Object.hasOwn(options, token.name) ? options[token.name]?.type : undefined
    if (!type) throw new UsageError(`${token.rawName}: такого ключа нет`)
    if (type === 'string' && token.value === undefined) {
      throw new UsageError(`${token.rawName}: нужно значение`)
    }
    if (type === 'boolean' && token.value !== undefined) {
      throw new UsageError(`${token.rawName} не принимает значения`)
    }
  }
  return { values: parsed.values as Values, positionals: parsed.positionals }
}
