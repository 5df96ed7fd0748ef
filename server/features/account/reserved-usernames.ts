import { CONTRACT } from '../../../contract/api.ts'
import { isEndpoint } from '../../../contract/endpoint.ts'
import { FEED_PATHS, MODERATION_PATH, PATHS } from '../../../contract/pages.ts'

/** Maps characters to similar letters. l and j map to i, because l looks like a capital I. */
const LOOK_ALIKES: Record<string, string> = {
  ...{ 0: 'o', 1: 'i', 2: 'z', 3: 'e', 4: 'a', 5: 's', 6: 'b', 7: 't', 8: 'b', 9: 'g' },
  ...{ l: 'i', j: 'i', q: 'g' },
}

/** The parts of all addresses of pages, feeds and calls, such as `own posts` of `/own/posts`. */
const PATH_WORDS = [
  ...Object.values({ ...PATHS, ...FEED_PATHS, MODERATION_PATH }),
  ...CONTRACT.flatMap((file) => Object.values(file).filter(isEndpoint)).map(({ path }) => path),
].flatMap((path) => path.split(/[/.]/).map((part) => part.replaceAll('-', '')))

/** Words of the product. Each is reserved alone, in any spelling. */
const PRODUCT = words(`${PATH_WORDS.filter((word) => /^\w+$/.test(word)).join(' ')}
  abuse accounts anonymous assets billing contact deleted emails everyone feedback guest legal livez login logout mailer
  newsletter nobody notifications operator owner password profile readyz register registration reply robot robots
  rootuser server service session signin signup status system terms undefined verified`)

/** Words for a site's staff. Each is reserved alone and joined with STAFF, GENERIC and numbers. */
const STAFF = words(`
  adm admin admins administration administrator administrators helpdesk hostmaster mod moder moderation moderator moderators
  noreply official postmaster root security staff superuser support sysadmin webmaster vsluh vslukh vslux
  administracia administracii administracija administraciya administratora administratory administratsia administratsii
  administratsiya admina adminy bezopasnost bezopasnosti moderacia moderacii moderacija moderaciya moderatora moderatory
  moderatsia moderatsii moderatsiya oficialno oficialny oficialnyi ofitsialno ofitsialny ofitsialnyi podderjka podderjki podderzhka
  podderzhke podderzhki podderzhku podderzka podderzki redakcia redakcii redakcija redakciya redaktsia redaktsii
  redaktsiya sapport`)

/** Words that are harmless alone but sound official beside a word of STAFF. */
const GENERIC = words(`
  account app blog bot center centre chat chief com contact desk group head help info mail main my nash news of
  online our press real robot ru server service site system team tech the user users wall web www
  domena forum foruma glavny glavnyi kluba komanda komandy ot otdel otdela pochta pochty pomosh pomoshch pomoshchi portal
  portala proekt proekta resursa sait saita sayt sayta sajt sajta servis servisa slujba slujby sluzhba sluzhby soobshchestva
  stena stene steny teh tekh tex`)

/** Whether a username could pass for the product's own, or has only underscores. */
export function isReserved(username: string): boolean {
  const isBlank = /^_*$/.test(username)
  return (
    isBlank ||
    readingsOf(username.toLowerCase()).some((name) => isProductWord(name) || isStaff(name))
  )
}

/** Returns the ways to read a name: `rn` may be `m`, and a doubled letter may be one letter. */
function readingsOf(name: string): string[] {
  const joined = joinStrokes(name)
  const spelt = [name, joined, joined.replaceAll('nn', 'm')]
  return [...spelt, ...spelt.map(singleLetters)].map((reading) => reading.replaceAll('_', ''))
}

/** Whether a name is a product word. With a final number it is a person's name: guest_1987. */
function isProductWord(name: string): boolean {
  return !/\d$/.test(name) && PRODUCT.has(skeleton(name))
}

function isStaff(name: string): boolean {
  const seen = skeleton(name)
  // `made[n]` is what the first n characters of the name consist of.
  const made: ('words' | 'staff' | undefined)[] = ['words']
  const reach = (end: number, what: 'words' | 'staff') => {
    if (made[end] !== 'staff') made[end] = what
  }
  for (let at = 0; at < name.length; at++) {
    const before = made[at]
    if (!before) continue
    if (/\d/.test(name.charAt(at))) reach(at + 1, before)
    // A doubled letter became one letter, which may end one word and begin the next.
    for (const from of at > 0 ? [at, at - 1] : [at]) {
      for (const word of STAFF) if (seen.startsWith(word, from)) reach(from + word.length, 'staff')
      for (const word of GENERIC) if (seen.startsWith(word, from)) reach(from + word.length, before)
    }
  }
  return made[name.length] === 'staff'
}

/** Returns words in the form in which they are compared, with and without doubled letters. */
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

function joinStrokes(text: string): string {
  return text.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('cl', 'd')
}
