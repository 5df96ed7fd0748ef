import { useQueryClient } from '@tanstack/react-query'
import type { CurrentUser } from '../../contract/account.ts'
import { useReturnToSettings } from '../account/use-return-to-settings.ts'
import { UsernameForm } from '../account/username-form.tsx'
import { usePageTitle } from '../browser/use-page-title.ts'
import { renameOwner } from '../posts/cache/post-cache.ts'
import { useViewer } from '../viewer/viewer.ts'

/** /settings/account/username */
export function SettingsUsernamePage() {
  usePageTitle('Имя пользователя')
  const viewer = useViewer()
  const client = useQueryClient()
  const leave = useReturnToSettings()
  function onSaved(user: CurrentUser): void {
    renameOwner(client, user)
    leave()
  }
  return (
    viewer.state === 'authorized' && <UsernameForm own={viewer.user.username} onSaved={onSaved} />
  )
}
