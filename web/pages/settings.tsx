import { AccountSettings } from '../account/account-settings.tsx'
import { usePageTitle } from '../lib/use-page-title.ts'
import { useViewer } from '../lib/viewer.ts'

/** /settings */
export function SettingsPage() {
  usePageTitle('Настройки')
  const viewer = useViewer()
  return viewer.state === 'authorized' && <AccountSettings user={viewer.user} />
}
