import { Plus, Settings, ShieldCheck } from 'lucide'
import type { ComponentProps } from 'react'
import { MODERATION_PATH, PATHS } from '../../../contract/pages.ts'
import { moderationLabel } from '../../format/labels.ts'
import { usePage } from '../../history/entry.tsx'
import { useDraftText } from '../../posts/compose/stored-texts.ts'
import { openNewPost } from '../../session/intents.ts'
import { useUser } from '../../session/viewer.ts'
import { ThemeToggle } from '../../theme/theme-toggle.tsx'
import { classes } from '../../ui/classes.ts'
import { Icon, Mark } from '../../ui/icon.tsx'
import bar from './bottom-bar.module.css'
import rail from './side-rail.module.css'
import { useHideOnScroll } from './use-hide-on-scroll.ts'

export function SideRail({ appName }: { appName: string }) {
  const user = useUser()
  return (
    <nav className={classes('above-phone', rail.rail)} aria-label="Разделы">
      <a href={PATHS.wall} className={classes('desktop-only', rail.brand)} title={appName}>
        <Mark size={26} solid />
        <span className={rail.label}>{appName}</span>
      </a>
      <NavigationLink href={PATHS.wall} className={rail.item} title="Стена">
        <Mark />
        <span className={rail.label}>Стена</span>
      </NavigationLink>
      <button type="button" className={rail.write} title="Новая запись" onClick={openNewPost}>
        <Icon shape={Plus} size={22} />
        <span className={rail.label}>Новая запись</span>
        <DraftMark />
      </button>
      {user?.isModerator && (
        <NavigationLink href={MODERATION_PATH} className={rail.item} title={moderationLabel(user)}>
          <Icon shape={ShieldCheck} size={22} />
          <span className={rail.label}>{moderationLabel(user)}</span>
        </NavigationLink>
      )}
      <div className={rail.end}>
        <ThemeToggle className={rail.item} labelClass={rail.label} />
      </div>
    </nav>
  )
}

export function BottomBar() {
  const hidden = useHideOnScroll()
  return (
    <nav
      className={classes('phone-only', bar.bar)}
      data-hidden={hidden || undefined}
      aria-label="Разделы"
    >
      <NavigationLink href={PATHS.wall} className={bar.item} aria-label="Стена">
        <Mark size={24} />
      </NavigationLink>
      <button type="button" className={bar.write} onClick={openNewPost}>
        <Icon shape={Plus} size={24} />
        <span className="visually-hidden">Новая запись</span>
        <DraftMark />
      </button>
      <NavigationLink href={PATHS.settings} className={bar.item} aria-label="Настройки">
        <Icon shape={Settings} size={24} />
      </NavigationLink>
    </nav>
  )
}

/** Marks the link as current on its page and on the pages below it. */
function NavigationLink(props: ComponentProps<'a'>) {
  const isCurrent = `${usePage()?.path}/`.startsWith(`${props.href}/`)
  return <a {...props} aria-current={isCurrent ? 'page' : undefined} />
}

/** Shows a dot on the button for a new post while the viewer has an unsent draft of one. */
function DraftMark() {
  if (useDraftText('new') === null) return null
  return (
    <span className={classes('dot', rail.draft)}>
      <span className="visually-hidden">, есть черновик</span>
    </span>
  )
}
