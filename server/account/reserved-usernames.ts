/** Digits for the letters they look like; l stands for i, which no eye tells from a capital I. */
const LOOK_ALIKES: Record<string, string> = {
  ...{ 0: 'o', 1: 'i', 2: 'z', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b', 9: 'g' },
  l: 'i',
}

/** Names of the product's own addresses and parts. Refused alone, however they are spelt. */
const PARTS = words(`
  about abuse account accounts anonymous assets billing contact current deleted devices email emails everyone feedback
  guest legal liked likes livez login logins logout mailer newsletter nobody notifications operator owner password posts
  privacy profile readyz reasons register registration registrations replies reply reports robot robots rootuser search
  server service session sessions settings signin signup status system terms undefined username users validation verified
  verify`)

/** What those who run a wall are called, and the wall itself. Refused alone, with each other, with COMPANY and numbers. */
const STAFF = words(`
  admin admins administration administrator administrators helpdesk hostmaster moder moderation moderator moderators
  noreply official postmaster security staff superuser support sysadmin webmaster vsluh vslukh vslux
  administracia administracija administraciya administratsia administratsiya bezopasnost moderacia moderacija moderaciya
  moderatsia moderatsiya oficialno oficialny oficialnyi ofitsialno ofitsialny ofitsialnyi podderjka podderjki podderzhka
  podderzhki podderzka podderzki redakcia redakcija redakciya redaktsia redaktsiya sapport`)

/** Words that say nothing alone, and make an office of what they stand beside. */
const COMPANY = words(`
  account adm app blog bot center centre chat chief com contact desk group head help info mail main mod my nash news of
  online our press real robot root ru server service site system team tech the user users wall web www
  glavny glavnyi komanda pomosh pomoshch slujba sluzhba stena teh tekh tex`)

/**
 * Whether a valid username could be taken for the product's own: one of its words, or words of its staff joined, seen as an
 * eye sees them (without underscores, a letter said twice or a digit in its place).
 */
export function isReserved(username: string): boolean {
  return readingsOf(username.toLowerCase()).some((name) => isPart(name) || isStaff(name))
}

/**
 * What looks like an m may also be the end of one word and the beginning of the next; so may two equal letters with an
 * underscore between them.
 */
function readingsOf(name: string): string[] {
  const spelt = [name, joinStrokes(name)]
  return [...spelt, ...spelt.map(singleLetters)].map((reading) => reading.replaceAll('_', ''))
}

/** A number at the end of such a word makes it somebody's: guest_1987. */
function isPart(name: string): boolean {
  return !/\d$/.test(name) && PARTS.has(skeleton(name))
}

/** Whether a name is nothing but words of STAFF, of COMPANY and digits, with one of STAFF at least. */
function isStaff(name: string): boolean {
  const seen = skeleton(name)
  // What the name up to each letter is made of: words and digits, with staff among them, or neither.
  const made: ('words' | 'staff' | undefined)[] = ['words']
  const reach = (end: number, what: 'words' | 'staff') => {
    if (made[end] !== 'staff') made[end] = what
  }
  for (let at = 0; at < name.length; at++) {
    const before = made[at]
    if (!before) continue
    if (/\d/.test(name.charAt(at))) reach(at + 1, before)
    // A letter that ends one word and begins the next was said twice, and stands there once.
    for (const from of at > 0 ? [at, at - 1] : [at]) {
      for (const word of STAFF) if (seen.startsWith(word, from)) reach(from + word.length, 'staff')
      for (const word of COMPANY) if (seen.startsWith(word, from)) reach(from + word.length, before)
    }
  }
  return made[name.length] === 'staff'
}

/** Words as they are compared: as they stand, and with each letter once. */
function words(text: string): Set<string> {
  const all = text.split(/\s+/).filter(Boolean)
  return new Set([...all, ...all.map(singleLetters)].map(skeleton))
}

function skeleton(text: string): string {
  return [...text].map((character) => LOOK_ALIKES[character] ?? character).join('')
}

function singleLetters(text: string): string {
  return text.replace(/(.)\1+/g, '$1')
}

/** Letters whose strokes make another one: rn is read as m. */
function joinStrokes(text: string): string {
  return text.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('cl', 'd')
}
