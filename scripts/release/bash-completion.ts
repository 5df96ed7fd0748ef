import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

type Help = { commands: { name: string; usage: string[]; options: string[] }[]; options: string[] }

/** Returns the bash completion of `vslukh`, made from the program's own help. */
export async function makeBashCompletion(): Promise<string> {
  const program = join(import.meta.dirname, '../../bin/vslukh')
  const { stdout } = await promisify(execFile)(program, ['--help', '--json'])
  const { commands, options }: Help = JSON.parse(stdout)
  const names = [...commands.map(({ name }) => name), 'help'].join(' ')
  const cases = commands.map(
    (command) => `    ${command.name}) words='${wordsOf(command)}' options='${named(command)}' ;;`,
  )
  return `# Made of \`vslukh --help --json\`.
_vslukh() {
  local word command= words= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || { command=$word; break; }
  done
  case $command in
    '' | help) words='${names}' ;;
${cases.join('\n')}
  esac
  [[ $2 == -* ]] && words="$options ${named({ options })}"
  COMPREPLY=($(compgen -W "$words" -- "$2"))
}
complete -o default -F _vslukh vslukh
`
}

/** Returns the literal words of a command's usage, whose placeholders are in Russian capitals. */
function wordsOf({ usage, name }: Help['commands'][number]): string {
  const words = usage.flatMap(
    (line) => line.replaceAll(/--\S+( [^\s\][]+)?/g, '').match(/[a-z][a-z-]+/g) ?? [],
  )
  return [...new Set(words)].filter((word) => word !== name).join(' ')
}

function named({ options }: { options: string[] }): string {
  return options.map((option) => `--${option.replace('=', '')}`).join(' ')
}
