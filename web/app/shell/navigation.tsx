import { Moon, Plus, Settings, Sun } from 'lucide'
import type { ComponentProps } from 'react'
import { PATHS } from '../../../contract/pages.ts'
import { usePage } from '../../history/entry.tsx'
import { Link } from '../../history/link.tsx'
import { useAtom } from '../../platform/atom.ts'
import { useUnsentText } from '../../posts/compose/stored-drafts.ts'
import { useViewer } from '../../session/viewer.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Mark } from '../../ui/mark.tsx'
import bar from './bottom-bar.module.css'
import draft from './draft-mark.module.css'
import rail from './side-rail.module.css'
import { setTheme, theme } from './theme.ts'
import { useHideOnScroll } from './use-hide-on-scroll.ts'

type SideRailProps = { appName: string; onNewPost: () => void }

export function SideRail({ appName, onNewPost }: SideRailProps) {
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
      <button type="button" className={rail.write} title="Новая запись" onClick={onNewPost}>
        <Icon shape={Plus} size={22} />
        <span className={rail.label}>Новая запись</span>
        <DraftMark />
      </button>
      <div className={rail.end}>
        <ThemeToggle look="rail" />
      </div>
    </nav>
  )
}

export function BottomBar({ onNewPost }: { onNewPost: () => void }) {
  const hidden = useHideOnScroll()
  return (
    <nav className={bar.bar} data-hidden={hidden || undefined} aria-label="Разделы">
      <NavigationLink to={PATHS.wall} className={bar.item ?? ''} aria-label="Стена">
        <Mark size={24} />
      </NavigationLink>
      <button type="button" className={bar.write} onClick={onNewPost}>
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

/** A row of the rail, or an icon on a narrow screen. It is named by the other theme. */
export function ThemeToggle({ look }: { look: 'rail' | 'icon' }) {
  const current = useAtom(theme, 'dark')
  const other = current === 'dark' ? 'light' : 'dark'
  const label = current === 'dark' ? 'Светлая тема' : 'Тёмная тема'
  const icon = current === 'dark' ? <Icon shape={Sun} size={22} /> : <Icon shape={Moon} size={22} />

  if (look === 'icon') {
    return <IconButton label={label} icon={icon} onClick={() => setTheme(other)} />
  }
  return (
    <button type="button" className={rail.item} title={label} onClick={() => setTheme(other)}>
      {icon}
      <span className={rail.label}>{label}</span>
    </button>
  )
}
