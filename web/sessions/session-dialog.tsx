import type { Session } from '../../contract/sessions.ts'
import { Read } from '../http/read.tsx'
import { useAction } from '../session/use-action.tsx'
import { AskFooter, Modal } from '../ui/overlay/modal.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { Loading } from '../ui/states/spinner.tsx'
import styles from './sessions.module.css'
import { closeOtherSessions, closeSession, useSessions } from './sessions.queries.ts'
import { browserName, SessionTime, systemName } from './sessions.tsx'

export function SessionDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const query = useSessions()
  const session = query.data?.find(({ id }) => id === sessionId)
  const close = useClosing(closeSession, onClose)
  return (
    <Modal title="Другая сессия" onClose={onClose}>
      <Read query={query} loading={<Loading label="Загружаем сессию" />} inRow>
        {() =>
          session ? <Details session={session} /> : <p>Сессия не найдена или уже завершена</p>
        }
      </Read>
      <AskFooter action={close} onConfirm={() => close.mutate(sessionId)} onClose={onClose}>
        {session && !session.current && 'Завершить сессию'}
      </AskFooter>
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
      <dt>Вход выполнен</dt>
      <dd>
        <SessionTime session={session} />
      </dd>
    </dl>
  )
}

export function CloseOtherSessionsDialog({ onClose }: { onClose: () => void }) {
  const closeOthers = useClosing(closeOtherSessions, onClose)
  return (
    <Modal title="Завершить другие сессии?" onClose={onClose}>
      <p>На всех остальных устройствах понадобится войти заново. Эта сессия останется.</p>
      <AskFooter action={closeOthers} onConfirm={() => closeOthers.mutate()} onClose={onClose}>
        Завершить
      </AskFooter>
    </Modal>
  )
}

/** Closes sessions and then the dialog, whose toast is the returned message. */
function useClosing<Id = void>(close: (id: Id) => Promise<string>, onClose: () => void) {
  return useAction({
    mutationFn: close,
    onSuccess: (text) => {
      toast({ text })
      onClose()
    },
  })
}
