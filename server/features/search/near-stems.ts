type Exchange = [lettersBefore: number, endings: string]

/** Endings that are exchanged for no ending at all. */
const NONE_OR = 'ен л ова ит а ут ет ив ьт ат ом ем ов'

/** Endings by which Snowball's stems of one word differ: «кусок, куск», «рисова, рису». */
const EXCHANGES: Exchange[] = [
  [2, 'п пис'],
  [3, 'ок к'],
  [3, 'ек к ьк йк'],
  [3, 'ец ц ьц йц'],
  [3, 'ова у ует уеш'],
  [4, 'л т'],
  [4, 'ут ет еш т'],
  ...NONE_OR.split(' ').map((ending): Exchange => [5, ` ${ending}`]),
]

const GROUPS = EXCHANGES.map(([before, endings]) => ({ before, endings: endings.split(' ') }))

/** Returns the stems that forms of the word may have; most of them do not exist. */
export function nearStems(stem: string): string[] {
  const near = GROUPS.flatMap(({ before, endings }) =>
    endings
      .filter((ending) => stem.endsWith(ending) && stem.length - ending.length >= before)
      .flatMap((ending) => {
        const rest = stem.slice(0, stem.length - ending.length)
        return endings.map((other) => rest + other)
      }),
  )
  return [...new Set([stem, ...near])]
}
