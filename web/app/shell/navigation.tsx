import { Plus, Settings, ShieldCheck } from 'lucide'
import type { ComponentProps } from 'react'
import { MODERATION_PATH, PATHS } from '../../../contract/pages.ts'
import { moderationLabel } from '../../format/counts.ts'
import { usePage } from '../../history/entry.tsx'
import { Link } from '../../history/link.tsx'
import { useUnsentText } from '../../posts/compose/stored-drafts.ts'
import { writePost } from '../../session/intents.ts'
import { useUser, useViewer } from '../../session/viewer.ts'
import { ThemeToggle } from '../../theme/theme-toggle.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Mark } from '../../ui/mark.tsx'
import bar from './bottom-bar.module.css'
import draft from './draft-mark.module.css'
import rail from './side-rail.module.css'
import { useHideOnScroll } from './use-hide-on-scroll.ts'

export function SideRail({ appName }: { appName: string }) {
  return (
    <nav className={rail.rail} aria-label="Разделы">
      <Link to={PATHS.wall} className={rail.brand} title={appName}>
        <Mark size={26} solid className={rail.mark} />
        <span className={rail.label}>{appName}</span>
      </Link>
      <NavigationLink to={PATHS.wall} className={rail.item ?? ''} title="Стена">
        <Mark />
        <span className={rail.label}>Стена</span>
      </NavigationLink>
      <QueueLink />
      <button type="button" className={rail.write} title="Новая запись" onClick={writePost}>
        <Icon shape={Plus} size={22} />
        <span className={rail.label}>Новая запись</span>
        <DraftMark />
      </button>
      <div className={rail.end}>
        <ThemeToggle className={rail.item} labelClass={rail.label} />
      </div>
    </nav>
  )
}

function QueueLink() {
  const user = useUser()
  if (!user?.isModerator) return null
  const label = moderationLabel(user)
  return (
    <NavigationLink to={MODERATION_PATH} className={rail.item ?? ''} title={label}>
      <Icon shape={ShieldCheck} size={22} />
      <span className={rail.label}>{label}</span>
    </NavigationLink>
  )
}

export function BottomBar() {
  const hidden = useHideOnScroll()
  return (
    <nav className={bar.bar} data-hidden={hidden || undefined} aria-label="Разделы">
      <NavigationLink to={PATHS.wall} className={bar.item ?? ''} aria-label="Стена">
        <Mark size={24} />
      </NavigationLink>
      <button type="button" className={bar.write} onClick={writePost}>
        <Icon shape={Plus} size={24} />
        <span className="visually-hidden">Новая запись</span>
        <DraftMark />
      </button>
      <NavigationLink to={PATHS.settings} className={bar.item ?? ''} aria-label="Настройки">
        <Icon shape={Settings} size={24} />
      </NavigationLink>
    </nav>
  )
}

/** A link is marked also while a page below its own is shown. */
function NavigationLink(props: ComponentProps<typeof Link>) {
  const isCurrent = `${usePage()?.path}/`.startsWith(`${props.to}/`)
  return <Link {...props} aria-current={isCurrent ? 'page' : undefined} />
}

/** A dot on the button for a new post while the viewer has left one unsent. */
function DraftMark() {
  const viewer = useViewer()
  return viewer.state === 'authorized' && <OwnDraftMark key={viewer.user.id} />
}

function OwnDraftMark() {
  if (useUnsentText('new') === null) return null
  return (
    <span className={draft.mark}>
      <span className="visually-hidden">есть черновик</span>
    </span>
  )
}
