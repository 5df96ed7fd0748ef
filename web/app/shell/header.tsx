import { ArrowLeft, ChevronDown, Search } from 'lucide'
import { PATHS, SEARCH_PAGES, TITLES } from '../../../contract/pages.ts'
import { headerTitle, usePage } from '../../history/entry.tsx'
import { goBack, navigate, openDialog } from '../../history/history.ts'
import { errorMessage } from '../../http/error-message.ts'
import { useAtom } from '../../platform/atom.ts'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { settings } from '../../platform/page-settings.ts'
import { withViewer } from '../../session/intents.ts'
import { useViewer, viewerForAction } from '../../session/viewer.ts'
import { Button, IconButton, iconButtonClass } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Icon, Mark } from '../../ui/icon.tsx'
import { Monogram } from '../../ui/monogram.tsx'
import { menu, useMenuButton } from '../../ui/overlay/menu-button.tsx'
import { RetryButton } from '../../ui/states/errors.tsx'
import { Lazy } from '../../ui/states/lazy.tsx'
import styles from './header.module.css'

const bell = createLazyChunk(() => import('../../answers/bell.tsx'), 'Bell')
const bellRoom = <span className={iconButtonClass} />

const FEED_VIEWS = [
  { value: PATHS.wall, label: 'Новые' },
  { value: PATHS.liked, label: 'Понравившиеся' },
  { value: PATHS.ownPosts, label: 'Мои записи' },
  { value: PATHS.ownReplies, label: 'Мои ответы' },
] as const

type FeedView = (typeof FEED_VIEWS)[number]['value']

/** Shows no search and no bell on pages below the settings, because their titles are long. */
export function Header() {
  const page = usePage()
  const view = FEED_VIEWS.find(({ value }) => value === page?.path)?.value
  const isSearch = SEARCH_PAGES.some((name) => name === page?.name)
  const isBelowSettings = page?.path.startsWith(`${PATHS.settings}/`) ?? false
  return (
    <header className={classes('line', styles.header)}>
      <div className={classes('line', styles.left)}>
        {view === PATHS.wall && <Brand />}
        {view ? <FeedSwitcher current={view} /> : <BackAndTitle />}
      </div>
      <div className={classes('line', styles.right)}>
        {!isBelowSettings && !isSearch && (
          <a
            href={PATHS.search}
            // A phone has room for the search only beside the wall's title.
            className={classes(
              iconButtonClass,
              'below-desktop',
              view !== PATHS.wall && 'above-phone',
            )}
            aria-label="Поиск"
            title="Поиск"
          >
            <Icon shape={Search} size={22} />
          </a>
        )}
        <Account withBell={!isBelowSettings} />
      </div>
    </header>
  )
}

function Brand() {
  const { appName } = settings()
  return (
    <a
      href={PATHS.wall}
      className={classes('phone-only', styles.brand)}
      aria-label={appName}
      title={appName}
    >
      <Mark size={26} solid />
    </a>
  )
}

/** Opens the menu of lists. */
function FeedSwitcher({ current }: { current: FeedView }) {
  const label = FEED_VIEWS.find(({ value }) => value === current)?.label
  const items = FEED_VIEWS.filter(({ value }) => value !== current).map(({ label, value }) => {
    return { label, onSelect: () => open(value) }
  })
  const listbox = { role: 'listbox', label: 'Какие записи показать', items } as const
  const [buttonProps, list] = useMenuButton(menu, listbox)

  function open(path: FeedView): void {
    // Everybody may open the wall, so this does not wait until the viewer is known.
    if (path === PATHS.wall) navigate(path)
    else void withViewer({ name: 'go', path })
  }

  const switcher = (
    <>
      <button
        {...buttonProps}
        type="button"
        className={classes('control', styles.switcher)}
        aria-haspopup="listbox"
      >
        {label}
        <Icon shape={ChevronDown} size={18} className={styles.chevron} />
      </button>
      {list}
    </>
  )
  if (current !== PATHS.wall) return <h1 className={styles.view}>{switcher}</h1>
  return (
    <div className={styles.wall}>
      <h1>{TITLES.wall}</h1>
      {switcher}
    </div>
  )
}

function BackAndTitle() {
  const title = useAtom(headerTitle)

  return (
    <>
      <IconButton
        className={styles.back}
        label="Назад"
        icon={<Icon shape={ArrowLeft} size={22} />}
        onClick={() => goBack(PATHS.wall)}
      />
      {title && <h1 className={classes('clamp', styles.title)}>{title}</h1>}
    </>
  )
}

function Account({ withBell }: { withBell: boolean }) {
  const viewer = useViewer()
  if (viewer.state === 'authorized') {
    const { id, username, waitingReports } = viewer.user
    return (
      <>
        {withBell && (
          <Lazy chunk={bell} loading={bellRoom} fallback={bellRoom} props={{ userId: id }} />
        )}
        <a
          href={PATHS.settings}
          className={styles.profile}
          aria-label={`Профиль ${username}${waitingReports ? ', есть жалобы' : ''}`}
        >
          <Monogram name={username} />
          {!!waitingReports && <span className={classes('dot', styles.waiting)} />}
        </a>
      </>
    )
  }
  if (viewer.state === 'no-answer') {
    return (
      <span className={styles.noAnswer} title={errorMessage(viewer.error)}>
        <RetryButton size="s" onRetry={viewerForAction} />
      </span>
    )
  }
  return (
    // The button is invisible until the viewer is known, so that nothing moves or flashes.
    <span className={classes(styles.signIn, viewer.state !== 'signed-out' && styles.unknown)}>
      <Button variant="strong" size="s" onClick={() => openDialog({ name: 'sign-in' })}>
        Войти
      </Button>
    </span>
  )
}
