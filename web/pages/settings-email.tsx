import { EmailForm } from '../account/email-form.tsx'
import { useReturnToSettings } from '../account/use-return-to-settings.ts'
import { usePageTitle } from '../browser/use-page-title.ts'

/** /settings/account/email */
export function SettingsEmailPage() {
  usePageTitle('Электронная почта')
  return <EmailForm onSaved={useReturnToSettings()} />
}
