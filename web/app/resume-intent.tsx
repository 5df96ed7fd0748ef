import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { postPath } from '../../contract/pages.ts'
import { errorMessage } from '../api/error-message.ts'
import { isInSight } from '../feed/articles.ts'
import { useLike } from '../likes/like-button.tsx'
import { whenListsAreRead } from '../posts/cache/list-cache.ts'
import { savedSignIn } from '../sign-in/saved-sign-in.ts'
import { useToast } from '../ui/toaster.tsx'
import { leaveDialog, openDialog, whenDialogIsClosed } from '../viewer/dialogs.ts'
import {
  dropStaleIntent,
  type Intent,
  resumeIntent,
  takeIntentTask,
  useIntentTasks,
} from '../viewer/intents.ts'
import { knownViewer } from '../viewer/viewer.ts'

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
  const navigate = useNavigate()
  const like = useLikeInSight()

  return (intent) => {
    switch (intent.name) {
      case 'go':
        leaveDialog(() => void navigate(intent.path))
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
  const navigate = useNavigate()
  const toast = useToast()
  const { mutateAsync } = useLike()

  return async (intent) => {
    try {
      await mutateAsync(intent)
    } catch {
      // A toast of useLike() names the error.
      return
    }
    // A list that is still being read has not returned to its anchor.
    await whenListsAreRead(client)
    await new Promise(requestAnimationFrame)
    // The post that was liked may be far above or below.
    if (intent.liked === false || isInSight(intent.postId)) return
    const href = postPath(intent.postId)
    const onSelect = () => leaveDialog(() => void navigate(href))
    toast({ text: 'Добавлено в «Понравившиеся»', link: { label: 'Смотреть', href, onSelect } })
  }
}

/** Goes on with the intent that signing in interrupted, or with signing in itself. */
async function resume(): Promise<void> {
  const viewer = await knownViewer()
  whenDialogIsClosed(() => {
    if (viewer.state === 'authorized') resumeIntent()
    else if (savedSignIn(Date.now())?.open) openDialog({ name: 'sign-in' })
    else dropStaleIntent()
  })
}
