import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Modal, ModalFooter } from '../ui/modal.tsx'
import { useToast } from '../ui/toaster.tsx'
import { dropSessions } from './use-sessions.ts'

/** Asks before every session but this one is closed. */
export function CloseOtherSessionsDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const toast = useToast()
  const [error, setError] = useState<string>()

  async function closeOthers(): Promise<void> {
    setError(undefined)
    try {
      await call('DELETE /sessions', {})
      dropSessions(client, (session) => session.current)
      toast({ text: 'Сессии завершены' })
      onClose()
    } catch (reason) {
      setError(errorMessage(reason))
    }
  }

  return (
    <Modal title="Завершить другие сессии?" size="s" onClose={onClose}>
      <p>На всех остальных устройствах понадобится войти заново. Эта сессия останется.</p>
      <FormError>{error}</FormError>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button variant="danger" onClick={closeOthers}>
          Завершить
        </Button>
      </ModalFooter>
    </Modal>
  )
}
