import { PATHS, postPath } from '../../../contract/pages.ts'
import { leave, openDialog, openedDialog } from '../../history/history.ts'
import type { Intent } from '../../session/intents.ts'
import { SessionEnded } from '../../session/session-ended.tsx'
import { useAction } from '../../session/use-action.tsx'
import { useAuthorId } from '../../session/viewer.ts'
import { AskFooter, Modal } from '../../ui/overlay/modal.tsx'
import { toast } from '../../ui/overlay/toaster.tsx'
import { usePost } from '../cache/post-cache.ts'
import { deletePost } from './compose.queries.ts'
import { addToDraft } from './open-text.ts'
import { isDraft, remove, textsAt } from './texts.ts'

type DeleteDialogProps = {
  postId: string
  /** Whether the text is kept in a draft, which opens after the deletion. */
  rewrites?: true | undefined
  onClose: () => void
}

export function DeleteDialog({ postId, rewrites, onClose }: DeleteDialogProps) {
  const isReply = usePost(postId)?.actions.replied_post_id != null
  const reopen = { name: 'delete', postId, ...(rewrites && { rewrites }) } as const
  const deletion = useDelete({ postId, rewrites, onClose, reopen })
  return (
    <Modal title={isReply ? 'Удалить ответ?' : 'Удалить запись?'} onClose={onClose}>
      <p className="tip">
        {isReply
          ? 'Восстановить ответ нельзя. Ответы на\u00a0него останутся.'
          : 'Восстановить запись нельзя. Ответы на\u00a0неё останутся.'}
        {rewrites && ' Текст будет в\u00a0черновике.'}
      </p>
      <SessionEnded reopen={reopen} />
      <AskFooter action={deletion} onConfirm={() => deletion.mutate()} onClose={onClose}>
        {rewrites ? 'Удалить и переписать' : 'Удалить'}
      </AskFooter>
    </Modal>
  )
}

function useDelete(props: DeleteDialogProps & { reopen: Intent }) {
  const { postId, rewrites, onClose, reopen } = props
  const by = useAuthorId()
  const post = usePost(postId)
  const repliedId = post?.actions.replied_post_id ?? ''
  // There is nothing left to reply to if the replied post is gone.
  const isReply = usePost(repliedId) != null
  const target = isReply ? (`reply ${repliedId}` as const) : 'new'

  return useAction({
    mutationFn: () => {
      if (rewrites && post) addToDraft({ by, target }, post)
      return deletePost(postId)
    },
    onSuccess: (existed) => {
      const text = existed ? 'Удалено' : 'Сообщение не найдено'
      toast({ text })
      textsAt({ by, target: `edit ${postId}` })
        .filter(isDraft)
        .forEach(remove)
      // A person who has closed the dialog may write something else by now.
      const writesNow = rewrites && openedDialog.get()?.name === 'delete'
      onClose()
      // Going back must not lead to a deleted post.
      leave(postPath(postId), PATHS.wall)
      if (writesNow)
        openDialog(isReply ? { name: 'reply', postId: repliedId } : { name: 'new-post' })
    },
    errors: {
      failed: 'Не удалено',
      reopen,
    },
  })
}
