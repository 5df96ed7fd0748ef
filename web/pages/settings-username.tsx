import { useReturnToSettings } from '../account/use-return-to-settings.ts'
import { UsernameForm } from '../account/username-form.tsx'
import { usePageTitle } from '../lib/use-page-title.ts'
import { useViewer } from '../lib/viewer.ts'

/** /settings/account/username */
export function SettingsUsernamePage() {
  usePageTitle('Имя пользователя')
  const viewer = useViewer()
  const onSaved = useReturnToSettings()
  return (
    viewer.state === 'authorized' && <UsernameForm own={viewer.user.username} onSaved={onSaved} />
  )
}
