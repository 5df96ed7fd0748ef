import type { QueryClient } from '@tanstack/react-query'
import { NOTHING_RECEIVED } from '../../contract/constants.ts'
import { RECEIVED_KEY } from '../answers/received-key.ts'
import { preloadMenus } from '../feed/post-controls.tsx'
import { onLeaveLoading } from '../history/history.ts'
import { hideMuted } from '../posts/cache/hidden.ts'
import { forgetViewer } from '../posts/cache/list-cache.ts'
import { onPostChange } from '../posts/cache/post-channel.ts'
import { resumeIntents } from '../session/intents.ts'
import { onSessionLost } from '../session/token.ts'
import { knownViewer, onAccountRead, onOtherViewer } from '../session/viewer.ts'
import { closeOpened, preloadSignIn } from './dialogs.tsx'
import { guardPages } from './guard-pages.ts'
import { ofSignedIn, performIntent } from './perform-intent.ts'

/** Signs that a person uses the page. `scroll` covers the wheel and touch. */
const SIGNS_OF_USE = ['pointermove', 'pointerdown', 'keydown', 'scroll']

/** Connects the app with events outside React. Called once, before the first render. */
export function startApp(client: QueryClient): void {
  onLeaveLoading(closeOpened)
  onOtherViewer(() => forgetViewer(client))
  onSessionLost((error) => void ofSignedIn((it) => it.offerSignIn(error)))
  onAccountRead((account) => {
    hideMuted(account)
    client.setQueryData(RECEIVED_KEY, account.received ?? NOTHING_RECEIVED)
  })
  onPostChange((change) => void ofSignedIn((it) => it.showChange(client, change)))
  guardPages()
  void resumeIntents(performIntent)
  void greetViewer(client)
  if (/[?&](?:title|text|url)=/.test(location.search)) void ofSignedIn((it) => it.takeShared())
}

/**
 * Preloads what the next taps may need, so that it opens at once, offline too. For visitors this
 * waits for the first sign of use, because many visits end after a glance.
 */
async function greetViewer(client: QueryClient): Promise<void> {
  const viewer = await knownViewer()
  if (viewer.state === 'authorized') {
    await ofSignedIn((it) => it.greetUser(client, viewer.user))
  } else {
    for (const sign of SIGNS_OF_USE) {
      addEventListener(sign, preloadForVisitor, { once: true, passive: true })
    }
  }
}

/** Does nothing if called again, unless the first time failed. */
function preloadForVisitor(): void {
  void preloadMenus()
  void preloadSignIn()
}
