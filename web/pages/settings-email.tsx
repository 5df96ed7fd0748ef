import { useNavigate } from 'react-router'
import { EmailForm } from '../account/email-form.tsx'
import { usePageTitle } from '../lib/use-page-title.ts'

/** /settings/account/email */
export function SettingsEmailPage() {
  usePageTitle('Электронная почта')
  const navigate = useNavigate()
  return <EmailForm onSaved={() => navigate('/settings', { replace: true })} />
}
