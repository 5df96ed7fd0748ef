import { useQueryClient } from '@tanstack/react-query'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { useAction } from '../../http/use-action.tsx'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toaster.tsx'
import styles from './author-block.module.css'
import { blockEnd, refreshQueue, unblockAuthor } from './queue.queries.ts'

/** The undo of a block leaves the sessions closed that the block has closed. */
export const SIGNS_IN_AGAIN = 'Автору придётся войти снова'

export function AuthorBlock({ author: { id, block } }: Pick<QueuedPost, 'author'>) {
  const unblock = useUnblock()
  if (!block) return null
  return (
    <div className={styles.block}>
      <p className={styles.text}>
        Заблокирован {blockEnd(block)}: {block.reason}
      </p>
      <Button size="s" pending={unblock.isPending} onClick={() => unblock.mutate({ id })}>
        Разблокировать
      </Button>
    </div>
  )
}

type Unblock = {
  id: string
  /** Whether the block was made a moment ago, so that its author may not know of it yet. */
  isUndo?: boolean
}

export function useUnblock() {
  const client = useQueryClient()
  return useAction({
    mutationFn: ({ id }: Unblock) => unblockAuthor(id),
    onSuccess: async (_, { isUndo }) => {
      const text = isUndo ? `Автор разблокирован. ${SIGNS_IN_AGAIN}` : 'Автор разблокирован'
      toast({ text }, { atOnce: true })
      await refreshQueue(client)
    },
    errors: 'toast',
  })
}
