import { usePageTitle } from '../browser/use-page-title.ts'
import { OwnReports } from '../moderation/own-reports.tsx'

/** /settings/reports */
export function SettingsReportsPage() {
  usePageTitle('Мои жалобы')
  return <OwnReports />
}
