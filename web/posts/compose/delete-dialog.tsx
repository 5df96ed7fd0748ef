import { useQueryClient } from '@tanstack/react-query'
import { PATHS } from '../../../contract/pages.ts'
import { CallError } from '../../api/call.ts'
import { useLeave } from '../../browser/use-leave.ts'
import { Button } from '../../ui/button.tsx'
import { Modal, ModalFooter } from '../../ui/modal.tsx'
import { useToast } from '../../ui/toaster.tsx'
import { usePost } from '../cache/post-cache.ts'
import { postPath } from '../view/post-path.ts'
import styles from './delete-dialog.module.css'
import { deletePost } from './delete-post.ts'
import { SendErrorLine } from './send-error-line.tsx'
import { useDraft } from './use-draft.ts'
import { useSendError } from './use-send-error.ts'

type DeleteDialogProps = { postId: string; onClose: () => void }

/** Asks once more before a post is deleted. */
export function DeleteDialog({ postId, onClose }: DeleteDialogProps) {
  const isReply = usePost(postId)?.actions.replied_post_id != null
  const error = useSendError({ intent: { name: 'delete', postId }, failed: 'Не удалено' })
  const remove = useDelete(postId, { onClose, onRefused: error.tell })
  return (
    <Modal title={isReply ? 'Удалить ответ?' : 'Удалить запись?'} size="s" onClose={onClose}>
      <p className={styles.text}>
        Вернуть {isReply ? 'его' : 'её'} не получится. Написанные ответы останутся.
      </p>
      <SendErrorLine error={error} />
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button variant="danger" onClick={remove}>
          Удалить
        </Button>
      </ModalFooter>
    </Modal>
  )
}

type DeleteEnds = { onClose: () => void; onRefused: (reason: unknown) => void }

function useDelete(postId: string, { onClose, onRefused }: DeleteEnds) {
  const client = useQueryClient()
  const toast = useToast()
  // In place of the post's page: going back must not end at what is no more.
  const leave = useLeave(postPath(postId))
  const edit = useDraft(`edit ${postId}`)

  return async (): Promise<void> => {
    try {
      await deletePost(client, postId)
      toast({ text: 'Удалено' })
    } catch (error) {
      if (!(error instanceof CallError) || error.status !== 404) {
        onRefused(error)
        return
      }
      toast({ text: 'Сообщение не найдено' })
    }
    edit.clear()
    onClose()
    leave(PATHS.wall)
  }
}
