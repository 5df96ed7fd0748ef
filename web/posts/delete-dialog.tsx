import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { CallError } from '../lib/call.ts'
import { errorMessage } from '../lib/error-message.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Modal, ModalFooter } from '../ui/modal.tsx'
import { useToast } from '../ui/toaster.tsx'
import styles from './delete-dialog.module.css'
import { deletePost } from './delete-post.ts'
import { usePost } from './post-cache.ts'
import { postPath } from './post-path.ts'

type DeleteDialogProps = { postId: string; onClose: () => void }

/** Asks once more before a post is deleted. */
export function DeleteDialog({ postId, onClose }: DeleteDialogProps) {
  const isReply = usePost(postId)?.actions.replied_post_id != null
  const [error, setError] = useState<string>()
  const remove = useDelete(postId, { onClose, onRefused: setError })
  return (
    <Modal title={isReply ? 'Удалить ответ?' : 'Удалить запись?'} size="s" onClose={onClose}>
      <p className={styles.text}>
        Вернуть {isReply ? 'его' : 'её'} не получится. Написанные ответы останутся.
      </p>
      <FormError>{error}</FormError>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button variant="danger" onClick={remove}>
          Удалить
        </Button>
      </ModalFooter>
    </Modal>
  )
}

type DeleteEnds = { onClose: () => void; onRefused: (message: string) => void }

function useDelete(postId: string, { onClose, onRefused }: DeleteEnds) {
  const client = useQueryClient()
  const toast = useToast()
  const navigate = useNavigate()
  const isViewed = useLocation().pathname === postPath(postId)

  return async (): Promise<void> => {
    try {
      await deletePost(client, postId)
      toast({ text: 'Удалено' })
    } catch (error) {
      if (!(error instanceof CallError) || error.status !== 404) {
        onRefused(errorMessage(error))
        return
      }
      toast({ text: 'Сообщение не найдено' })
    }
    onClose()
    // In place of the post's page: going back must not end at what is no more.
    if (isViewed) void navigate('/', { replace: true })
  }
}
