import { EmailForm } from '../account/email-form.tsx'
import { useLeave } from '../lib/use-leave.ts'
import { usePageTitle } from '../lib/use-page-title.ts'

/** /settings/account/email */
export function SettingsEmailPage() {
  usePageTitle('Электронная почта')
  const leave = useLeave('/settings/account/email')
  return <EmailForm onSaved={() => leave('/settings')} />
}
