const ENCODED_LABEL = /(?<=[@.])xn--([a-z\d-]+)(?=\.|$)/gi

/** Decodes the domain of an address: anna@xn--e1afmkfd.xn--p1ai becomes anna@пример.рф. */
export function emailInLetters(address: string): string {
  try {
    const shown = address.replace(ENCODED_LABEL, (_, code: string) => decode(code.toLowerCase()))
    return domainOf(shown) === domainOf(address) ? shown : address
  } catch {
    return address
  }
}

/** Returns the domain in ASCII, which is the same for both spellings of a name. */
function domainOf(address: string): string {
  return new URL(`http://${address.slice(address.lastIndexOf('@') + 1)}`).host
}

/** Decodes Punycode (RFC 3492). Throws a RangeError if the label is invalid. */
function decode(code: string): string {
  const plain = code.lastIndexOf('-')
  const letters = [...code.slice(0, Math.max(plain, 0))]
  let at = plain + 1
  let letter = 128
  let place = 0
  let bias = 72
  while (at < code.length) {
    const before = place
    for (let k = 36, weight = 1; ; k += 36) {
      const digit = (Number.parseInt(code[at++] ?? '', 36) + 26) % 36
      const least = Math.min(Math.max(k - bias, 1), 26)
      place += digit * weight
      if (!(digit >= least)) break
      weight *= 36 - least
    }
    const length = letters.length + 1
    let delta = Math.floor((place - before) / (before === 0 ? 700 : 2))
    delta += Math.floor(delta / length)
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35)
    bias += Math.floor((36 * delta) / (delta + 38))
    letter += Math.floor(place / length)
    place %= length
    letters.splice(place++, 0, String.fromCodePoint(letter))
  }
  return letters.join('')
}
