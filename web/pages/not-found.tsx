import { TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../history/entry.tsx'
import { DeadEnd } from './wall.tsx'

/** Shows that a page does not exist, also for the queue to everybody but moderators. */
export function NotFoundPage() {
  usePageTitle(TITLES.noPage, 'tab')
  return <DeadEnd title={TITLES.noPage} text="Проверьте корректность адреса" />
}
