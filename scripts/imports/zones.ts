/** Where a file stands in the house: the first row whose pattern fits its path. */
export type Zone = { name: string; feature: string | null }

const SERVER_FEATURES = 'posts|replies|likes|reports|sessions|sign-in|account|codes'
const WEB_FEATURES = 'likes|replies|reports|posts|sign-in|sessions|account'

/** A first capture group, where there is one, is the feature; `\1` then makes a file its own. */
const ZONES: readonly (readonly [RegExp, string])[] = [
  [/^(?:e2e|bench|scripts)\//, 'tool'],
  [/^contract\/.*\.test\.ts$/, 'contract test'],
  [/^contract\//, 'contract'],

  [/^server\/testing\//, 'server test'],
  [/^server\/.*\.test\.ts$/, 'server test'],
  [/^server\/main\.ts$/, 'server/main'],
  [
    /^server\/(?:config|app-secret|data-dir|kept-file|logger|line-writer|start-error)\.ts$/,
    'server/config',
  ],
  [/^server\/features\.ts$/, 'server/features'],
  [/^server\/[^/]+$/, 'server/app'],
  [/^server\/http\/app-error\.ts$/, 'server/error'],
  [/^server\/http\//, 'server/http'],
  [/^server\/mail\//, 'server/mail'],
  [/^server\/db\//, 'server/db'],
  [new RegExp(`^server/(${SERVER_FEATURES})/[^/]+\\.routes\\.ts$`), 'routes'],
  [new RegExp(`^server/(${SERVER_FEATURES})/[^/]+\\.store\\.ts$`), 'store'],
  [new RegExp(`^server/(${SERVER_FEATURES})/[^/]+\\.(?:jobs?|cron)\\.ts$`), 'job'],
  [new RegExp(`^server/(${SERVER_FEATURES})/\\1\\.ts$`), 'door'],
  [new RegExp(`^server/(${SERVER_FEATURES})/`), 'inner'],

  [/^web\/.*\.test\.tsx?$/, 'web test'],
  [/^web\/[^/]+$/, 'web/main'],
  [/^web\/app\//, 'web/app'],
  [/^web\/pages\//, 'web/pages'],
  [/^web\/feed\//, 'web/feed'],
  [/^web\/ui\//, 'web/ui'],
  [/^web\/lib\//, 'web/lib'],
  ...WEB_FEATURES.split('|').map((name) => [new RegExp(`^web/${name}/`), `web/${name}`] as const),
]

/** The zone of a path from the root, or null for a place the design does not know. */
export function zoneOf(path: string): Zone | null {
  for (const [pattern, name] of ZONES) {
    const match = pattern.exec(path)
    if (match) return { name, feature: match[1] ?? null }
  }
  return null
}

/** `own routes`, `other door`, `server/db`: what `to` is when seen from `from`. */
export function zoneSeenFrom(from: Zone, to: Zone): string {
  if (to.feature === null) return to.name
  if (from.feature === null) return `any ${to.name}`
  return `${from.feature === to.feature ? 'own' : 'other'} ${to.name}`
}
