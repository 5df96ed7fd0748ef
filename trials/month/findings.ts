import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

type Options = { seed: number; folder: string; when: () => { day: number; time: string } }

/** How many findings of one kind are printed; all are in the file. */
const PRINTED = 3

/** The differences between the product and the model, and the story of the run. */
export class Findings {
  readonly kinds = new Map<string, number>()
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  get count(): number {
    return [...this.kinds.values()].reduce((sum, count) => sum + count, 0)
  }

  add(what: string, details: object = {}): void {
    const { seed, folder, when } = this.#options
    const { day, time } = when()
    const kind = what.replace(/\d[\d.:]*/g, 'N')
    const count = (this.kinds.get(kind) ?? 0) + 1
    this.kinds.set(kind, count)
    const line = JSON.stringify({ seed, day, time, what, ...details })
    appendFileSync(join(folder, 'findings.jsonl'), `${line}\n`)
    const more = JSON.stringify(details).slice(0, 400)
    if (count <= PRINTED) this.say(`  ! seed ${seed}, day ${day}, ${time}: ${what} ${more}`)
  }

  say(line: string): void {
    console.log(line)
    appendFileSync(join(this.#options.folder, 'story.txt'), `${line}\n`)
  }
}
