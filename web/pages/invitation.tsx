import { useEffect } from 'react'
import { useEntry } from '../history/entry.tsx'
import { openDialog } from '../history/history.ts'
import { usePageTitle } from '../history/use-page-title.ts'
import { settings } from '../session/page-settings.ts'
import { saveInvitation } from '../sign-in/invitation.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

/** /invitation, to which an invitation's link leads */
export function InvitationPage() {
  usePageTitle('Приглашение', 'tab')
  const token = useEntry().hash.slice(1)
  useEffect(() => saveInvitation(token), [token])
  if (token === '') {
    return (
      <EmptyState
        isWholePage
        title="Ссылка неполная"
        text="Скопируйте приглашение целиком и откройте ещё раз"
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title={`Вас пригласили на «${settings().appName}»`}
      text="По этой ссылке может зарегистрироваться один человек. Понадобится только почта"
      action={
        <Button variant="primary" onClick={() => openDialog({ name: 'sign-in' })}>
          Зарегистрироваться
        </Button>
      }
    />
  )
}
