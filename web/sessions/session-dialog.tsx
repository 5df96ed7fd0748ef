import { useQueryClient } from '@tanstack/react-query'
import type { Session } from '../../contract/sessions.ts'
import { CallError, call } from '../lib/call.ts'
import { errorMessage } from '../lib/error-message.ts'
import { Button } from '../ui/button.tsx'
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
  const close = useCloseSession(onClose)
  return (
    <Modal title="Сессия" size="s" onClose={onClose}>
      {session ? <Details session={session} /> : <p>Сессия не найдена или уже завершена</p>}
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

function useCloseSession(onClosed: () => void): (id: string) => Promise<void> {
  const client = useQueryClient()
  const toast = useToast()
  return async (id) => {
    try {
      await call('DELETE /sessions/:id', { params: { id } })
      toast({ text: 'Сессия завершена' })
    } catch (error) {
      toast({ text: errorMessage(error) })
      if (!(error instanceof CallError) || error.code !== 'SESSION_NOT_FOUND') return
    }
    dropSessions(client, (session) => session.id !== id)
    onClosed()
  }
}
