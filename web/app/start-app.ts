import { NO_REPLIES_RECEIVED } from '../../contract/constants.ts'
import { showOnIcon } from '../answers/app-badge.ts'
import { preloadMenus } from '../feed/post-controls.tsx'
import { navigate, onLeaveLoading, openDialog } from '../history/history.ts'
import { queryClient } from '../http/query-client.ts'
import { onSessionLost } from '../http/token.ts'
import { sendTap } from '../likes/likes.queries.ts'
import { preload } from '../platform/lazy-chunk.ts'
import { forgetHidden, hide } from '../posts/cache/hidden.ts'
import { forgetViewer } from '../posts/cache/list-cache.ts'
import { onPostChange } from '../posts/cache/post-channel.ts'
import { RECEIVED_KEY } from '../posts/cache/posts.queries.ts'
import { type Intent, resumeIntents } from '../session/intents.ts'
import { knownViewer, onAccountRead, onOtherViewer, viewerId } from '../session/viewer.ts'
import { closeOpened, preloadSignIn } from './dialogs.tsx'
import { guardPages } from './guard-pages.ts'

/** Signs that a person uses the page. `scroll` covers the wheel and touch. */
const SIGNS_OF_USE = ['pointermove', 'pointerdown', 'keydown', 'scroll']

/** Connects the app with events outside React. Called once, before the first render. */
export function startApp(): void {
  onLeaveLoading(closeOpened)
  onOtherViewer(() => {
    void forgetViewer()
    // The bell shows the number of the next user.
    if (viewerId() === null) showOnIcon(0)
  })
  onSessionLost((error) => {
    if (error.code === 'SESSION_CLOSED') forgetHidden()
    void ofSignedIn((it) => it.offerSignIn(error))
  })
  onAccountRead((account) => {
    hide({ authors: account.mutedAuthors ?? [] }, account.id)
    queryClient.setQueryData(RECEIVED_KEY, account.received ?? NO_REPLIES_RECEIVED)
  })
  onPostChange((change) => void ofSignedIn((it) => it.showChange(change)))
  guardPages()
  void resumeIntents(performIntent)
  void greetViewer()
  if (/[?&](?:title|text|url)=/.test(location.search)) void ofShared((it) => it.takeShared())
}

/** Preloads for users, and for visitors at the first sign of use, as many visits are short. */
async function greetViewer(): Promise<void> {
  const viewer = await knownViewer()
  if (viewer.state === 'authorized') {
    void keepFocus()
    await ofSignedIn((it) => it.greetUser(viewer.user))
  } else {
    showOnIcon(0)
    for (const sign of SIGNS_OF_USE) {
      addEventListener(sign, preloadForVisitor, { once: true, passive: true })
    }
  }
}

/** Preloads the menus and the sign-in. Loads again only what has failed. */
function preloadForVisitor(): void {
  void keepFocus()
  void preloadMenus()
  void preloadSignIn()
}

function keepFocus(): Promise<void> {
  return preload(() => import('./keep-focus.ts'))
}

function performIntent(intent: Intent): void {
  if (intent.name === 'go') navigate(intent.path)
  else if (intent.name === 'like') void like(intent)
  else if ('text' in intent) void ofShared((it) => it.writeShared(intent.text))
  else openDialog(intent)
}

async function like(intent: Extract<Intent, { name: 'like' }>): Promise<void> {
  if (!(await sendTap(intent)) || intent.liked === false) return
  await ofSignedIn((it) => it.showLiked(intent.postId))
}

/** Loads a chunk of code that few visitors need, and passes it to `use`. */
function ofSignedIn(use: (chunk: typeof import('./signed-in.ts')) => unknown): Promise<void> {
  return preload(async () => use(await import('./signed-in.ts')))
}

function ofShared(use: (chunk: typeof import('./shared-text.ts')) => unknown): Promise<void> {
  return preload(async () => use(await import('./shared-text.ts')))
}
