import { OPERATION_LIFE_MS } from '../../contract/constants.ts'
import { beginEarlyRefresh } from '../http/early-refresh.ts'
import { pageFlags } from '../platform/flags.ts'
import {
  anchorKey,
  HAD_SESSION_KEY,
  HIDDEN_KEY,
  INTRO_SEEN_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
  SIGN_IN_KEY,
  THEME_KEY,
} from '../platform/stored-keys.ts'
import { hideNotice, showTheme } from '../theme/page-looks.ts'

const flags = pageFlags()

// Runs before the first paint, so that nothing wrong flashes. A blocked storage throws.
try {
  const hadSession = localStorage.getItem(HAD_SESSION_KEY)
  if (localStorage.getItem(INTRO_SEEN_KEY)) flags.introSeen = ''
  // The server sets the same flag if the request has the session's cookie.
  if (hadSession) flags.session = ''
  const hidden = localStorage.getItem(HIDDEN_KEY) || ''
  // Reported posts do not justify covering the page.
  const hides = hadSession && /"(authors|words)":\["/.test(hidden)
  if (localStorage.getItem(THEME_KEY) === 'light') showTheme('light')
  if (localStorage.getItem(NO_COUNTS_KEY)) flags.noCounts = ''
  const seenNotice = localStorage.getItem(NOTICE_SEEN_KEY)
  if (seenNotice) hideNotice(seenNotice)
  // A page that was left further down must not first show its top.
  const [{ type } = {}] = performance.getEntriesByType('navigation') as { type?: string }[]
  const wasLeft = sessionStorage.getItem(anchorKey(Object(history.state).key))
  if (hides || (wasLeft && type !== 'navigate')) flags.covered = ''
  const { isLeft, sentAt } = JSON.parse(localStorage.getItem(SIGN_IN_KEY) || '{}')
  if (!hadSession && !isLeft && Date.now() - sentAt < OPERATION_LIFE_MS) flags.codeSent = ''
} catch {}

// The app needs features of browsers since 2022. In older ones, as without scripts, a page that the
// server has rendered can be read.
if ('timeout' in AbortSignal && CSS.supports('selector(:has(a))')) flags.static = 'loading'

const isOfApp = (url: string) => url.startsWith(`${origin}/assets/`)
// Detects a browser that cannot parse the app's scripts, until main.tsx runs and removes this.
window.onerror = (_event, source = '', _line, _column, error) => {
  if (error instanceof SyntaxError && isOfApp(source)) flags.static = ''
}
// A script that cannot be loaded reports it to its element alone.
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLScriptElement && isOfApp(target.src)) flags.static = ''
  },
  true,
)

// With a service worker, fonts and scripts are stored already.
type Hints = { saveData?: boolean; effectiveType?: string }
const { connection = {}, serviceWorker = {} } = navigator as {
  connection?: Hints
  serviceWorker?: { controller?: unknown }
}
const isSlow = connection.saveData || /[23]g/.test(`${connection.effectiveType}`)
if (isSlow && !serviceWorker.controller) flags.sparing = ''
if (flags.sparing === undefined)
  document.head.append((document.querySelector('template') as HTMLTemplateElement).content)

try {
  beginEarlyRefresh()
} catch {}
