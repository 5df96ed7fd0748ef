import { useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { call } from '../api/call.ts'
import { CallError } from '../api/call-error.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toaster.tsx'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { signedOut } from '../viewer/viewer.ts'

/**
 * Closes this session and goes to the wall; a session that was closed elsewhere meanwhile counts as closed. `onLoggedOut`
 * removes from the browser what belongs to the person.
 */
export function LogOut({ onLoggedOut }: { onLoggedOut: () => void }) {
  const navigate = useNavigate()
  const toast = useToast()
  const logOut = useSingleMutation({
    mutationFn: closeCurrentSession,
    onSuccess: async () => {
      onLoggedOut()
      await navigate(PATHS.wall)
      signedOut()
      announceSessionChange()
    },
    onError: (error) => toast({ text: errorMessage(error) }),
  })

  return (
    <Button pending={logOut.isPending} onClick={() => logOut.mutate()}>
      Выйти
    </Button>
  )
}

async function closeCurrentSession(): Promise<void> {
  try {
    await call('DELETE /sessions/current', {})
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) throw error
  }
}
