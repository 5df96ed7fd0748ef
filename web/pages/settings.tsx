import { AccountSettings } from '../account/account-settings.tsx'
import { localStore } from '../browser/storage.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { removeDrafts } from '../posts/compose/drafts.ts'
import { removeSavedSignIn } from '../sign-in/saved-sign-in.ts'
import { dropIntent } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'

/** /settings */
export function SettingsPage() {
  usePageTitle('Настройки')
  const viewer = useViewer()
  if (viewer.state !== 'authorized') return null
  const { user } = viewer
  return <AccountSettings user={user} onLoggedOut={() => removePersonalData(user.id)} />
}

/** Removes everything of this user from the browser. Not when a session ends by itself: then drafts wait for their author. */
function removePersonalData(userId: string): void {
  removeDrafts(localStore, userId)
  removeSavedSignIn()
  dropIntent()
}
