import { type ReactNode, useEffect } from 'react'
import { POST_FORMS, plural } from '../../format/counts.ts'
import { formatDateTime } from '../../format/time.ts'
import { openDialog } from '../../history/history.ts'
import { isShortLimit } from '../../http/call-error.ts'
import { reasonOf } from '../../http/error-message.ts'
import { useAtom } from '../../platform/atom.ts'
import { useOnline } from '../../platform/online.ts'
import { localStore } from '../../platform/storage.ts'
import { HAD_SESSION_KEY } from '../../platform/stored-keys.ts'
import { showNext } from '../../posts/compose/open-text.ts'
import { dialogOf, type Text } from '../../posts/compose/stored-texts.ts'
import { errorOf } from '../../posts/compose/text-failures.ts'
import { isUnsaved, startSending, texts } from '../../posts/compose/texts.ts'
import { SecondsLeft, UNSAVED } from '../../posts/compose/waiting-line.tsx'
import { useSessionEnd, useViewer } from '../../session/viewer.ts'
import { Notice } from './notice.tsx'

/** Shows how many of the viewer's texts were refused or wait. Without any, shows `children`. */
export function OutboxRow({ children }: { children: ReactNode }) {
  useEffect(startSending, [])
  const viewerId = useLikelyViewerId()
  const own = useAtom(texts).filter(({ by }) => by === viewerId)
  const refused = own.filter(({ state }) => state === 'refused')
  const waiting = own.filter(({ state }) => state === 'waiting')
  const [first, ...others] = refused.length > 0 ? refused : waiting
  if (!first) return children
  return (
    <Notice>
      <p>
        <Words first={first} count={1 + others.length} />{' '}
        {[first, ...others].some(isUnsaved) && `${UNSAVED}. `}
        <button type="button" className="act cover" onClick={() => open(first)}>
          Открыть
        </button>
      </p>
    </Notice>
  )
}

function open(text: Text): void {
  showNext(text)
  openDialog(dialogOf(text.target))
}

function Words({ first, count }: { first: Text; count: number }) {
  const isOnline = useOnline()
  const hasEnded = useSessionEnd() !== undefined
  const error = errorOf(first)
  const isOne = plural(count, POST_FORMS) === POST_FORMS.one
  const texts = `${count} ${plural(count, POST_FORMS)}`
  const areNotSent = `${texts} не ${isOne ? 'ушла' : 'ушли'}`
  if (first.state === 'refused') {
    const isLater = error.retryAfter !== undefined && first.until > Date.now()
    const later = isLater ? ` Можно будет ${formatDateTime(first.until / 1000)}.` : ''
    return `${areNotSent}: ${reasonOf(error)}.${later}`
  }
  // Signing in loads the page again.
  if (hasEnded && isUnsaved(first)) return `${areNotSent}: сессия завершена.`
  if (hasEnded) return `${texts} ${isOne ? 'уйдёт' : 'уйдут'}, когда вы войдёте.`
  if (!isOnline || !isShortLimit(error)) return `${texts} ${isOne ? 'ждёт' : 'ждут'} связи.`
  return (
    <span>
      {texts} {isOne ? 'уйдёт' : 'уйдут'} через <SecondsLeft until={first.until} />.
    </span>
  )
}

/**
 * Returns the id of the viewer or of the user whose session has ended. Until the viewer is known,
 * returns that of the last user in this browser.
 */
function useLikelyViewerId(): string | null {
  const viewer = useViewer()
  if (viewer.state === 'authorized') return viewer.user.id
  return viewer.state === 'signed-out' ? (viewer.former ?? null) : localStore.read(HAD_SESSION_KEY)
}
