import { useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { CallError, call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toaster.tsx'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { signedOut } from '../viewer/viewer.ts'

/**
 * Closes this session and leaves for the wall. A session closed elsewhere meanwhile is no obstacle. `onLoggedOut` takes
 * from the browser what the person leaves there.
 */
export function LogOut({ onLoggedOut }: { onLoggedOut: () => void }) {
  const navigate = useNavigate()
  const toast = useToast()

  async function logOut(): Promise<void> {
    try {
      await call('DELETE /sessions/current', {})
    } catch (error) {
      if (!(error instanceof CallError) || error.status !== 401) {
        toast({ text: errorMessage(error) })
        return
      }
    }
    onLoggedOut()
    await navigate(PATHS.wall)
    signedOut()
    announceSessionChange()
  }

  return <Button onClick={logOut}>Выйти</Button>
}
