import { ClockFading, Eye, EyeOff, type IconNode } from 'lucide'
import { receivedChanged } from '../answers/answers.queries.ts'
import { type Muting, setAuthorMuted } from '../mutes/mutes.queries.ts'
import { useIsMuted } from '../posts/cache/hidden.ts'
import { useAction } from '../session/use-action.tsx'
import { useUser } from '../session/viewer.ts'
import type { MenuItem } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toaster.tsx'

/** Hides an author from the viewer, with an undo link in the toast, or shows them again. */
export function useMuteAuthor({ id, username }: { id: string; username: string }) {
  const action = useAction({
    mutationFn: async (muting: Muting) => {
      await setAuthorMuted(id, muting)
      void receivedChanged()
    },
    onSuccess: (_, muting) => {
      if (muting === null) return toast({ text: `Автор ${username} снова виден` })
      const time = muting === 'for a week' ? ' на неделю' : ''
      const undo = { label: 'Вернуть', onSelect: () => action.mutate(null) }
      toast({ text: `Вы скрыли автора ${username}${time}`, link: undo })
    },
    errors: 'toast',
  })
  return action
}

/** Returns the menu items that hide or show an author; none for visitors and the author. */
export function useMuteItems(author: { id: string; username: string }): MenuItem[] {
  const user = useUser()
  const isMuted = useIsMuted(author.id)
  const { mutate } = useMuteAuthor(author)
  if (!user || user.id === author.id) return []
  const item = (label: string, icon: IconNode, muting: Muting) => ({
    ...{ label, icon, onSelect: () => mutate(muting) },
  })
  if (isMuted) return [item('Вернуть автора', Eye, null)]
  return [
    item('Скрыть автора', EyeOff, 'for good'),
    item('Скрыть на неделю', ClockFading, 'for a week'),
  ]
}
