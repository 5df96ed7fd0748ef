import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { postPath } from '../../contract/pages.ts'
import { errorMessage } from '../api/error-message.ts'
import { isInSight } from '../feed/articles.ts'
import { likePost } from '../likes/like-post.ts'
import { savedSignIn } from '../sign-in/saved-sign-in.ts'
import { useToast } from '../ui/toaster.tsx'
import { openDialog } from '../viewer/dialogs.ts'
import {
  dropStaleIntent,
  type Intent,
  performIntentsWith,
  resumeIntent,
} from '../viewer/intents.ts'
import { settledViewer } from '../viewer/viewer.ts'

/** Carries out what needs somebody signed in: at once, or after the reload that ends signing in. */
export function ResumeIntent() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()

  useEffect(() => {
    const refuse = (error: unknown) => toast({ text: errorMessage(error) })
    const like = async (postId: string): Promise<void> => {
      try {
        await likePost(client, postId)
      } catch (error) {
        refuse(error)
        return
      }
      // The page begins at its top after signing in: the heart that was pressed may be far below.
      if (isInSight(postId)) return
      const href = postPath(postId)
      const link = { label: 'Смотреть', href, onSelect: () => void navigate(href) }
      toast({ text: 'Отметка поставлена', link })
    }
    const perform = (intent: Intent): void => {
      switch (intent.name) {
        case 'go':
          void navigate(intent.path)
          return
        case 'like':
          void like(intent.postId)
          return
        default:
          openDialog(intent)
      }
    }
    return performIntentsWith({ perform, refuse })
  }, [client, navigate, toast])

  useEffect(() => void resume(), [])
  return null
}

/** Once, when it is known who came: goes on with what signing in interrupted, or with signing in itself. */
async function resume(): Promise<void> {
  const viewer = await settledViewer()
  if (viewer.state === 'authorized') resumeIntent()
  else if (savedSignIn(Date.now())?.open) openDialog({ name: 'sign-in' })
  else dropStaleIntent()
}
