import { useQueryClient } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Modal, ModalFooter } from '../ui/modal.tsx'
import { useToast } from '../ui/toaster.tsx'
import { keepSessions } from './use-sessions.ts'

/** Asks before every session but this one is closed. */
export function CloseOtherSessionsDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const toast = useToast()
  const closeOthers = useSingleMutation({
    mutationFn: () => call('DELETE /sessions', {}),
    onSuccess: () => {
      keepSessions(client, (session) => session.current)
      toast({ text: 'Сессии завершены' })
      onClose()
    },
  })

  return (
    <Modal title="Завершить другие сессии?" size="s" onClose={onClose}>
      <p>На всех остальных устройствах понадобится войти заново. Эта сессия останется.</p>
      <FormError>{closeOthers.error && errorMessage(closeOthers.error)}</FormError>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button
          variant="danger"
          pending={closeOthers.isPending}
          onClick={() => closeOthers.mutate()}
        >
          Завершить
        </Button>
      </ModalFooter>
    </Modal>
  )
}
