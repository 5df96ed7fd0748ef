import { useNavigate } from 'react-router'
import { UsernameForm } from '../account/username-form.tsx'
import { usePageTitle } from '../lib/use-page-title.ts'
import { useViewer } from '../lib/viewer.ts'

/** /settings/account/username */
export function SettingsUsernamePage() {
  usePageTitle('Имя пользователя')
  const viewer = useViewer()
  const navigate = useNavigate()
  return (
    viewer.state === 'authorized' && (
      <UsernameForm
        own={viewer.user.username}
        onSaved={() => navigate('/settings', { replace: true })}
      />
    )
  )
}
