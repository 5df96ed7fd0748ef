/**
 * The choices of one walk. Each depends on the seed, the number of the step and its own name only,
 * so that a page that is a little slower changes as few of the later choices as possible.
 */
export class Choices {
  readonly #seed: number
  step = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Returns an integer from 0 to `below` - 1. */
  number(about: string, below: number): number {
    return mixed(`${this.#seed} ${this.step} ${about}`) % below
  }

  isOneOf(about: string, times: number): boolean {
    return this.number(about, times) === 0
  }

  pick<Item>(about: string, items: readonly Item[]): Item {
    const item = items[this.number(about, items.length)]
    if (item === undefined) throw new Error(`Nothing to pick from: ${about}`)
    return item
  }

  /**
   * Picks the item with the highest number that its name draws: whichever others are there, the
   * same one wins. An item of weight 2 is picked twice as often.
   */
  pickByName<Item>(
    items: readonly Item[],
    { nameOf, weightOf }: { nameOf: (it: Item) => string; weightOf: (it: Item) => number },
  ): Item | undefined {
    const draw = (it: Item) =>
      ((this.number(nameOf(it), 1_000_000) + 1) / 1_000_001) ** (1 / weightOf(it))
    return items.toSorted((one, other) => draw(other) - draw(one))[0]
  }
}

/** FNV-1a with the finalizer of MurmurHash3. */
function mixed(text: string): number {
  let sum = 2_166_136_261
  for (const letter of text) sum = Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 16_777_619)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85eb_ca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2_ae35)
  return (sum ^ (sum >>> 16)) >>> 0
}
