import { Eye, EyeOff } from 'lucide'
import { receivedChanged } from '../answers/answers.queries.ts'
import { setAuthorMuted } from '../mutes/mutes.queries.ts'
import { useIsMuted } from '../posts/cache/hidden.ts'
import { useAction } from '../session/use-action.tsx'
import { useUser } from '../session/viewer.ts'
import type { MenuItem } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toaster.tsx'

/** Hides an author from the viewer, with an undo link in the toast, or shows them again. */
export function useMuteAuthor({ id, username }: { id: string; username: string }) {
  const action = useAction({
    mutationFn: async (isMuted: boolean) => {
      await setAuthorMuted(id, isMuted)
      void receivedChanged()
    },
    onSuccess: (_, isMuted) => {
      const undo = { label: 'Вернуть', onSelect: () => action.mutate(false) }
      const text = isMuted ? `Вы скрыли автора ${username}` : `Автор ${username} снова виден`
      toast({ text, ...(isMuted && { link: undo }) })
    },
    errors: 'toast',
  })
  return action
}

/** Returns the menu item that hides or shows an author; none for visitors and the author. */
export function useMuteItems(author: { id: string; username: string }): MenuItem[] {
  const user = useUser()
  const isMuted = useIsMuted(author.id)
  const { mutate } = useMuteAuthor(author)
  if (!user || user.id === author.id) return []
  return [
    {
      label: isMuted ? 'Вернуть автора' : 'Скрыть автора',
      icon: isMuted ? Eye : EyeOff,
      onSelect: () => mutate(!isMuted),
    },
  ]
}
