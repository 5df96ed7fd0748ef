import { usePageTitle } from '../history/use-page-title.ts'
import { OwnReports } from '../moderation/outcomes/own-reports.tsx'

/** /settings/reports */
export function SettingsReportsPage() {
  usePageTitle('Мои жалобы')
  return <OwnReports />
}
