import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Session } from '../../contract/sessions.ts'
import { CallError, call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Modal, ModalFooter } from '../ui/modal.tsx'
import { useToast } from '../ui/toaster.tsx'
import { browserName, systemName } from './device-name.ts'
import { SessionTime } from './session-time.tsx'
import styles from './sessions.module.css'
import { dropSessions, useSessions } from './use-sessions.ts'

type SessionDialogProps = { sessionId: string; onClose: () => void }

/** What is known of one session on another device, and the way to close it. */
export function SessionDialog({ sessionId, onClose }: SessionDialogProps) {
  const { data: sessions } = useSessions()
  const session = sessions?.find(({ id }) => id === sessionId)
  const [error, setError] = useState<string>()
  const close = useCloseSession({ onClosed: onClose, onRefused: setError })
  return (
    <Modal title="Сессия" size="s" onClose={onClose}>
      {session ? <Details session={session} /> : <p>Сессия не найдена или уже завершена</p>}
      <FormError>{error}</FormError>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        {session && !session.current && (
          <Button variant="danger" onClick={() => close(session.id)}>
            Завершить сессию
          </Button>
        )}
      </ModalFooter>
    </Modal>
  )
}

function Details({ session }: { session: Session }) {
  const { device } = session
  return (
    <dl className={styles.details}>
      <dt>Браузер</dt>
      <dd>{browserName(device)}</dd>
      <dt>Система</dt>
      <dd>{systemName(device)}</dd>
      <dt>Вход</dt>
      <dd>
        <SessionTime session={session} />
      </dd>
    </dl>
  )
}

type CloseEnds = { onClosed: () => void; onRefused: (message: string | undefined) => void }

function useCloseSession({ onClosed, onRefused }: CloseEnds): (id: string) => Promise<void> {
  const client = useQueryClient()
  const toast = useToast()
  return async (id) => {
    onRefused(undefined)
    try {
      await call('DELETE /sessions/:id', { params: { id } })
      toast({ text: 'Сессия завершена' })
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'SESSION_NOT_FOUND') {
        onRefused(errorMessage(error))
        return
      }
      toast({ text: errorMessage(error) })
    }
    dropSessions(client, (session) => session.id !== id)
    onClosed()
  }
}
