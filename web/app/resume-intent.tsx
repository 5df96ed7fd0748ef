import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { postPath } from '../../contract/pages.ts'
import { isInSight } from '../feed/articles.ts'
import { navigate, openDialog, openedDialog } from '../history/history.ts'
import { errorMessage } from '../http/error-message.ts'
import { useLike } from '../likes/likes.queries.ts'
import { whenListsAreRead } from '../posts/cache/list-cache.ts'
import {
  dropStaleIntent,
  type Intent,
  resumeIntent,
  takeIntentTask,
  useIntentTasks,
} from '../session/intents.ts'
import { knownViewer } from '../session/viewer.ts'
import { useToast } from '../ui/toaster.tsx'

/** Performs intents: at once, or after the reload that ends signing in. */
export function ResumeIntent() {
  const tasks = useIntentTasks()
  const perform = usePerform()
  const toast = useToast()

  useEffect(() => {
    for (const task of tasks) {
      if (!takeIntentTask(task)) continue
      if ('perform' in task) perform(task.perform)
      else toast({ text: errorMessage(task.showError) }, { about: ['viewer'] })
    }
  }, [tasks, perform, toast])

  useEffect(() => void resume(), [])
  return null
}

function usePerform(): (intent: Intent) => void {
  const like = useLikeInSight()

  return (intent) => {
    switch (intent.name) {
      case 'go':
        navigate(intent.path)
        return
      case 'like':
        void like(intent)
        return
      default:
        openDialog(intent)
    }
  }
}

/** A toast tells of a like whose post is out of sight. */
function useLikeInSight(): (intent: Extract<Intent, { name: 'like' }>) => Promise<void> {
  const client = useQueryClient()
  const toast = useToast()
  const like = useLike()

  return async (intent) => {
    if (!(await like(intent))) return
    // A list that is still being read has not returned to its anchor.
    await whenListsAreRead(client)
    await new Promise(requestAnimationFrame)
    // The post that was liked may be far above or below.
    if (intent.liked === false || isInSight(intent.postId)) return
    const href = postPath(intent.postId)
    const onSelect = () => navigate(href)
    toast({ text: 'Добавлено в «Понравившиеся»', link: { label: 'Смотреть', href, onSelect } })
  }
}

/** Goes on with what signing in interrupted, as soon as the viewer is known. */
async function resume(): Promise<void> {
  const viewer = await knownViewer()
  if (viewer.state === 'authorized') resumeIntent()
  else if (openedDialog.get()?.name !== 'sign-in') dropStaleIntent()
}
