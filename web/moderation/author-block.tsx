import { useQueryClient } from '@tanstack/react-query'
import type { QueuedPost } from '../../contract/moderation.ts'
import { call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toaster.tsx'
import styles from './author-block.module.css'
import { blockEnd, refreshQueue } from './queue.ts'

/** Says that the author of a post is blocked, with the way to take the block back; nothing without a block. */
export function AuthorBlock({ author: { id, block } }: Pick<QueuedPost, 'author'>) {
  const unblock = useUnblock()
  if (!block) return null
  return (
    <div className={styles.block}>
      <p className={styles.text}>
        Заблокирован {blockEnd(block)}: {block.reason}
      </p>
      <Button size="s" pending={unblock.isPending} onClick={() => unblock.mutate(id)}>
        Разблокировать
      </Button>
    </div>
  )
}

/** Takes the block of a user back, and shows so in the queue. */
export function useUnblock() {
  const client = useQueryClient()
  const toast = useToast()
  return useSingleMutation({
    mutationFn: (id: string) => call('DELETE /moderation/users/:id/block', { params: { id } }),
    onSuccess: async () => {
      toast({ text: 'Автор разблокирован' }, { atOnce: true })
      await refreshQueue(client)
    },
    onError: (error) => toast({ text: errorMessage(error) }),
  })
}
