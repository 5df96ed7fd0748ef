import { postPath } from '../../contract/pages.ts'
import { isInSight } from '../feed/articles.ts'
import { navigate, openDialog } from '../history/history.ts'
import { queryClient } from '../http/query-client.ts'
import { sendTap } from '../likes/likes.queries.ts'
import { whenListsAreRead } from '../posts/cache/list-cache.ts'
import type { Intent } from '../session/intents.ts'
import { toast } from '../ui/toaster.tsx'

export function performIntent(intent: Intent): void {
  if (intent.name === 'go') navigate(intent.path)
  else if (intent.name === 'like') void likeInSight(intent)
  else openDialog(intent)
}

/** A toast tells of a like whose post is out of sight. */
async function likeInSight(intent: Extract<Intent, { name: 'like' }>): Promise<void> {
  if (!(await sendTap(queryClient, intent))) return
  // A list that is still being read has not returned to its anchor.
  await whenListsAreRead(queryClient)
  await new Promise(requestAnimationFrame)
  // The post that was liked may be far above or below.
  if (intent.liked === false || isInSight(intent.postId)) return
  const link = { label: 'Смотреть', to: postPath(intent.postId) }
  toast({ text: 'Добавлено в «Понравившиеся»', link })
}
