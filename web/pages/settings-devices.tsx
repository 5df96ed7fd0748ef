import { usePageTitle } from '../lib/use-page-title.ts'
import { SessionsList } from '../sessions/sessions-list.tsx'

/** /settings/devices */
export function SettingsDevicesPage() {
  usePageTitle('Устройства')
  return <SessionsList />
}
