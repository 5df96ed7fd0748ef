import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { useToast } from '../../ui/toaster.tsx'
import { postPath } from '../view/post-path.ts'
import { publishPost } from './publish-post.ts'

/**
 * Publishes a text as a post, or as a reply to `repliedPostId`, and says so with a link to it. `submission` is the key
 * that every attempt to send this text shares. Throws CallError.
 */
export function usePublish(repliedPostId: string | null) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()

  return async (text: string, submission: string): Promise<void> => {
    const post = await publishPost(client, { text, submission, repliedPostId })
    const href = postPath(post.id)
    toast({
      text: 'Опубликовано',
      link: { label: 'Смотреть', href, onSelect: () => void navigate(href) },
    })
  }
}
