import { navigate, openDialog } from '../history/history.ts'
import { queryClient } from '../http/query-client.ts'
import { sendTap } from '../likes/likes.queries.ts'
import { preload } from '../platform/lazy-chunk.ts'
import type { Intent } from '../session/intents.ts'

export function performIntent(intent: Intent): void {
  if (intent.name === 'go') navigate(intent.path)
  else if (intent.name === 'like') void like(intent)
  else openDialog(intent)
}

async function like(intent: Extract<Intent, { name: 'like' }>): Promise<void> {
  if (!(await sendTap(queryClient, intent)) || intent.liked === false) return
  await preload(async () => (await import('./signed-in.ts')).showLiked(queryClient, intent.postId))
}
