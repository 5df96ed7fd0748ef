import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { PATHS } from '../../../contract/pages.ts'
import { takeRegistered } from '../../sign-in/saved-sign-in.ts'
import { useToast } from '../../ui/toaster.tsx'
import { useViewer } from '../../viewer/viewer.ts'

/** Tells somebody who has just registered what name they were given, with a link to choose another one. */
export function useWelcome(): void {
  const viewer = useViewer()
  const toast = useToast()
  const navigate = useNavigate()
  const username = viewer.state === 'authorized' ? viewer.user.username : undefined

  useEffect(() => {
    if (username === undefined || !takeRegistered()) return
    const href = PATHS.username
    const link = { label: 'Выбрать имя', href, onSelect: () => void navigate(href) }
    toast({ text: `Теперь вы ${username}`, link })
  }, [username, toast, navigate])
}
