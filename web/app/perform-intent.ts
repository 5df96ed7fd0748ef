import { navigate, openDialog } from '../history/history.ts'
import { queryClient } from '../http/query-client.ts'
import { sendTap } from '../likes/likes.queries.ts'
import { preload } from '../platform/lazy-chunk.ts'
import type { Intent } from '../session/intents.ts'

export function performIntent(intent: Intent): void {
  if (intent.name === 'go') navigate(intent.path)
  else if (intent.name === 'like') void like(intent)
  else if ('text' in intent) void ofSignedIn((it) => it.writeShared(intent.text))
  else openDialog(intent)
}

async function like(intent: Extract<Intent, { name: 'like' }>): Promise<void> {
  if (!(await sendTap(queryClient, intent)) || intent.liked === false) return
  await ofSignedIn((it) => it.showLiked(queryClient, intent.postId))
}

/** Loads the chunk of code that few visitors need, and passes it to `use`. */
export function ofSignedIn(
  use: (chunk: typeof import('./signed-in.ts')) => unknown,
): Promise<void> {
  return preload(async () => use(await import('./signed-in.ts')))
}
