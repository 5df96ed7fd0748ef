import { useLocation } from 'react-router'
import { EmailUndo, readUndoLink } from '../account/undo-email-form.tsx'
import { usePageTitle } from '../browser/use-page-title.ts'
import { EmptyState } from '../ui/empty-state.tsx'

/** /email-undo, to which the mail about a changed e-mail address links */
export function EmailUndoPage() {
  usePageTitle('Возврат почты', 'tab')
  const { hash } = useLocation()
  const link = readUndoLink(hash)
  if (link) return <EmailUndo key={hash} link={link} />
  return (
    <EmptyState
      isWholePage
      title="Ссылка неполная"
      text="Скопируйте её из письма целиком и откройте ещё раз"
    />
  )
}
