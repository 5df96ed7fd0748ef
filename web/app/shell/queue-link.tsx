import { ShieldCheck } from 'lucide'
import { MODERATION_PATH } from '../../../contract/pages.ts'
import { moderationLabel } from '../../format/labels.ts'
import { useUser } from '../../session/viewer.ts'
import { Icon } from '../../ui/icon.tsx'
import { NavigationLink } from './navigation-link.tsx'
import rail from './side-rail.module.css'

/** The queue in the rail, for moderators. */
export function QueueLink() {
  const user = useUser()
  if (!user) return null
  const label = moderationLabel(user)
  return (
    <NavigationLink to={MODERATION_PATH} className={rail.item} title={label}>
      <Icon shape={ShieldCheck} size={22} />
      <span className={rail.label}>{label}</span>
    </NavigationLink>
  )
}
