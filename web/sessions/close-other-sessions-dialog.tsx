import { useQueryClient } from '@tanstack/react-query'
import { call } from '../lib/call.ts'
import { errorMessage } from '../lib/error-message.ts'
import { Button } from '../ui/button.tsx'
import { Modal, ModalFooter } from '../ui/modal.tsx'
import { useToast } from '../ui/toaster.tsx'
import { dropSessions } from './use-sessions.ts'

/** Asks before every session but this one is closed. */
export function CloseOtherSessionsDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const toast = useToast()

  async function closeOthers(): Promise<void> {
    try {
      await call('DELETE /sessions', {})
      dropSessions(client, (session) => session.current)
      toast({ text: 'Сессии завершены' })
      onClose()
    } catch (error) {
      toast({ text: errorMessage(error) })
    }
  }

  return (
    <Modal title="Завершить другие сессии?" size="s" onClose={onClose}>
      <p>На всех остальных устройствах понадобится войти заново. Эта сессия останется.</p>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button variant="danger" onClick={closeOthers}>
          Завершить
        </Button>
      </ModalFooter>
    </Modal>
  )
}
