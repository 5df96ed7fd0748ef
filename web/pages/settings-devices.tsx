import { usePageTitle } from '../browser/use-page-title.ts'
import { SessionsList } from '../sessions/sessions-list.tsx'

/** /settings/devices */
export function SettingsDevicesPage() {
  usePageTitle('Устройства')
  return <SessionsList />
}
