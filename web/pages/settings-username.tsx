import { UsernameForm } from '../account/username-form.tsx'
import { useLeave } from '../lib/use-leave.ts'
import { usePageTitle } from '../lib/use-page-title.ts'
import { useViewer } from '../lib/viewer.ts'

/** /settings/account/username */
export function SettingsUsernamePage() {
  usePageTitle('Имя пользователя')
  const viewer = useViewer()
  const leave = useLeave('/settings/account/username')
  return (
    viewer.state === 'authorized' && (
      <UsernameForm own={viewer.user.username} onSaved={() => leave('/settings')} />
    )
  )
}
