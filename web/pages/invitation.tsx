import { useEffect } from 'react'
import { useEntry } from '../history/entry.tsx'
import { openDialog } from '../history/history.ts'
import { usePageTitle } from '../history/use-page-title.ts'
import { settings } from '../session/page-settings.ts'
import { saveInvitation, useInvitation } from '../sign-in/invitation.queries.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

/** /invitation, to which an invitation's link leads */
export function InvitationPage() {
  usePageTitle('Приглашение', 'tab')
  const token = useEntry().hash.slice(1)
  if (token !== '') return <Invitation token={token} />
  return (
    <EmptyState
      isWholePage
      title="Ссылка неполная"
      text="Скопируйте приглашение целиком и откройте ещё раз"
    />
  )
}

/** One that is over leaves the invitation that this tab had before. */
function Invitation({ token }: { token: string }) {
  const { isPending, isValid } = useInvitation(token)
  const isOver = isValid === false
  useEffect(() => {
    if (!isPending && !isOver) saveInvitation(token)
  }, [token, isPending, isOver])
  if (isPending) return <Skeleton label="Проверяем приглашение" />
  if (isOver) {
    return (
      <EmptyState
        isWholePage
        title="Приглашение больше не действует"
        text="Оно отозвано, истекло или уже использовано. Попросите новое у того, кто вас позвал. Если аккаунт у вас уже есть, просто войдите"
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title={`Вас пригласили на «${settings().appName}»`}
      text="Зарегистрируйтесь по этой ссылке: понадобится только почта"
      action={
        <Button variant="primary" onClick={() => openDialog({ name: 'sign-in' })}>
          Зарегистрироваться
        </Button>
      }
    />
  )
}
