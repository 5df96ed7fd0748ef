import fc from 'fast-check'
import { expect, test } from 'vitest'
import { USERNAME_MAX, USERNAME_MIN } from '../../../contract/constants.ts'
import { FEED_PATHS, PATHS } from '../../../contract/pages.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { isReserved } from './reserved-usernames.ts'

const words = (text: string) => text.split(/\s+/).filter(Boolean)

/**
 * Words of the product, look-alike characters, short words with numbers, underscores, numbers
 * around, Russian words in Latin letters, those of a site, and words joined.
 */
const RESERVED = words(`
  admin Support MODERATOR settings posts liked replies logins registrations sessions users current vslukh
  adm1n m0d3r470r vs1ukh p0sts admln vsIukh aclmin rnoderator adnnin
  root1 root_ r00t_ root_2024 adm_1 mod_5 1mod1
  _____ _admin_ a_d_m_i_n sup_port no_reply p_o_s_t_s
  admin1 admin_2024 007_support admin2support
  podderjka poderzhka administraciya moderatsiya tehpodderzhka
  Podderzhka_sajta podderzhkasayta admin_steny administraciya_foruma servis_podderzhki sluzhby_bezopasnosti
  vslukh_support official_vslukh supportteam TheRealAdmin moderatornews`)

test('names that look like the product’s own are reserved', () => {
  expect(RESERVED.filter((name) => !isReserved(name))).toEqual([])
})

test('every part of an address of a page, a feed or a call is reserved, also with underscores for hyphens', async () => {
  const calls = [...(await allEndpoints()).values()].map(({ path }) => path)
  const paths = [...calls, ...Object.values(PATHS), ...Object.values(FEED_PATHS)]
  const parts = paths.flatMap((path) => path.split(/[/.]/)).filter((part) => !part.startsWith(':'))
  const names = parts.map((part) => part.replaceAll('-', '_')).filter(possible)
  expect(names).toContain('passkey_logins')
  expect(names.filter((name) => !isReserved(name))).toEqual([])
})

const INNOCENT = words(`
  administrata administra adminton badminton supporter supporters modern moderna modernist moderate
  roberto robotics robot5 admiral officially staffan stafford securitas vslukhov vslukh_olga olga_vslukh
  admin_olga team_work teamwork helper helpful service_man postman posted liker userov user_1 user5
  guest_1987 owner_2000 system5 newsru chatbot info_news the_team maier bingo _bing robot_guest podderzhal
  forumchanin sajt_olgi steny_doma portala_net pochta_olgi proekt_sajta
  vsluhom redaktor1 moderato modern_news modern_dance redakt admin_of_nothing olga_1987 Ivan_Petrov kotofey natasha
  ekaterina zhanna shchuka yulia_k 12345 _1_2_ adamov modest66 rootless 555555 l1l1l1l1 vvvvv rnrnrn clclcl aaaaa`)

test('names that are only similar are free', () => {
  expect(INNOCENT.filter(isReserved)).toEqual([])
})

const STAFF = words('admin administrator moderator support official vslukh podderzhka redakciya')
const GENERIC = words('team service bot news the real help site wall komanda sluzhba')

/** The ways to write a letter, first the letter itself. */
const SPELLINGS: Record<string, string[]> = {
  a: ['a', 'A', '4'],
  e: ['e', 'E', '3'],
  i: ['i', 'I', '1', 'l'],
  l: ['l', 'L', '1', 'I'],
  m: ['m', 'M', 'rn'],
  o: ['o', 'O', '0'],
  s: ['s', 'S', '5'],
  t: ['t', 'T', '7'],
}

/** Generates look-alikes of a word: letters written in some way, doubled, or with an underscore. */
function disguised(word: string): fc.Arbitrary<string> {
  const letters = [...word].map((letter) => {
    const spelt = SPELLINGS[letter] ?? [letter]
    return fc.constantFrom(...spelt, ...spelt, ...spelt.flatMap((one) => [one + one, `${one}_`]))
  })
  return fc.tuple(...letters).map((spelt) => spelt.join(''))
}

const possible = (name: string) => name.length >= USERNAME_MIN && name.length <= USERNAME_MAX
const staff = fc.constantFrom(...STAFF)

function expectReserved(names: fc.Arbitrary<string>): void {
  fc.assert(fc.property(names.filter(possible), isReserved), { numRuns: 3000 })
}

test('look-alikes of a staff word are reserved', () => {
  expectReserved(staff.chain(disguised))
})

test('staff words are reserved too when joined with others, with generic words or with numbers, in any order', () => {
  const number = fc.nat({ max: 9999 }).map(String)
  const others = fc.array(fc.oneof(staff, fc.constantFrom(...GENERIC), number), { maxLength: 3 })
  const joined = fc
    .tuple(staff, others, fc.constantFrom('', '_'), fc.nat())
    .map(([word, parts, joint, place]) =>
      parts.toSpliced(place % (parts.length + 1), 0, word).join(joint),
    )
  expectReserved(joined)
})
