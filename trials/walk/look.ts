/** What a person sees of a page, and can act on. Points are in px of the viewport. */
export type View = {
  path: string
  /** Why the scripts of the page do not run: 'held' until a press, 'loading', '' if they failed. */
  whyStatic?: string | undefined
  /** The name of who is signed in. */
  viewer?: string | undefined
  /** The first post of a list that is in sight, if the list was scrolled. */
  firstPost?: string | undefined
  /** Whether the field in which somebody writes is out of sight. */
  isFieldOutOfSight: boolean
  bodyLength: number
  mainLength: number
  title: string
  dialogs: string[]
  hasFocusInDialog: boolean
  /** What the focused element is, for messages. */
  focused: string
  toasts: string[]
  busy: string[]
  repeatedPosts: string[]
  /** By how many px the page, or a dialog, is wider than what shows it. */
  sideways: number
  /** Words that only a mistake in the code shows to people. */
  strangeWords: string[]
  controls: Control[]
  fields: Field[]
  /** All texts of the page: shown, in fields, and in the storage of the tab and the browser. */
  everything: string
  /** The part of it that is on the screen: no storage. */
  onScreen: string
  /** The texts that the browser stores, by their keys. */
  texts: Record<string, string>
}

export type Control = { name: string; kind: string; x: number; y: number; isOnTop: boolean }
export type Field = {
  /** The place among all inputs and text areas of the document. */
  index: number
  kind: 'text' | 'email' | 'code' | 'line'
  value: string
  isFocused: boolean
  isOnTop: boolean
}

/** Runs in the page, so it uses nothing of this module. */
export function look(): View {
  const all = (query: string, root: ParentNode = document) =>
    [...root.querySelectorAll<HTMLElement>(query)].filter((it) =>
      it.checkVisibility({ visibilityProperty: true }),
    )
  const body = document.body as HTMLElement | null
  const shownText = body?.innerText ?? ''
  const dialogs = all('dialog[open]')
  const dialog = dialogs.at(-1)
  const list = all('[role=menu]:popover-open, [role=listbox]:popover-open').at(-1)
  const top = list ?? dialog
  const root = dialog ?? body
  const { activeElement } = document

  const nameOf = (it: HTMLElement) => {
    const post = it.closest('article')
    const text = post?.querySelector('[id$="-text"]')?.textContent?.slice(0, 25)
    const own = it.getAttribute('aria-label') ?? (it === post ? '' : it.innerText)
    // Names and times would differ when the walk is repeated.
    const kept = own.replaceAll(/\s+/g, ' ').replace(/user_\w+|^.* назад$/, '…')
    return `${kept.slice(0, 40)}${text ? ` of «${text}»` : ''}`.trim()
  }
  const isWithin = (it: Element) => !top || top.contains(it)

  function isElsewhere(it: HTMLElement): boolean {
    const address = it.getAttribute('href')
    if (address === null) return false
    const { origin, pathname } = new URL(address, location.href)
    return origin !== location.origin || /\.\w+$|\/api\//.test(pathname)
  }

  const PRESSABLE =
    'a[href], button:enabled, [role=menuitem], [role=option], input[type=radio], input[type=checkbox], summary, article'
  const controls = (root ? all(PRESSABLE, root) : []).flatMap((it) => {
    const { left, top: above, width, height } = it.getBoundingClientRect()
    const x = Math.round(left + width / 2)
    const y = Math.round(above + Math.min(height / 2, 60))
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight || isElsewhere(it)) return []
    const hit = document.elementFromPoint(x, y)
    const isReached = hit && (it.contains(hit) || hit.contains(it))
    const kind = it.getAttribute('role') ?? it.localName
    return isReached ? [{ name: nameOf(it), kind, x, y, isOnTop: isWithin(it) }] : []
  })

  function kindOf(it: HTMLInputElement | HTMLTextAreaElement): Field['kind'] {
    if (it instanceof HTMLTextAreaElement) return 'text'
    if (it.autocomplete === 'one-time-code') return 'code'
    return it.type === 'email' || it.inputMode === 'email' ? 'email' : 'line'
  }

  const inputs = [...document.querySelectorAll<HTMLInputElement>('input, textarea')]
  const fields = inputs.flatMap((it, index) => {
    const isText = !/radio|checkbox|hidden/.test(it.type) && !it.readOnly && !it.disabled
    if (!isText || !it.checkVisibility() || !root?.contains(it)) return []
    const { value } = it
    const isFocused = it === activeElement
    return [{ index, kind: kindOf(it), value, isFocused, isOnTop: isWithin(it) }]
  })

  const ids = all('[role=feed]').map((feed) =>
    [...feed.querySelectorAll<HTMLElement>(':scope > article, :scope > * > article')].map(
      (it) => it.dataset.postId ?? it.id,
    ),
  )
  const repeatedPosts = ids.flatMap((feed) => feed.filter((id, at) => id && feed.indexOf(id) < at))
  const widest = [document.documentElement, ...dialogs].map((it) => it.scrollWidth - it.clientWidth)
  const onScreen = [shownText, ...inputs.map(({ value }) => value)].join('\n')
  const writesIn = inputs.find((it) => it === activeElement && it.checkVisibility())
  const box = writesIn?.getBoundingClientRect()
  const firstPost = all('[role=feed] article').find((it) => it.getBoundingClientRect().bottom > 80)
  const stored = [localStorage, sessionStorage].flatMap((it) => Object.entries(it))

  return {
    path: location.pathname,
    whyStatic: document.documentElement.dataset.static,
    viewer: document.querySelector('a[aria-label^="Профиль "]')?.ariaLabel?.slice(8),
    firstPost: scrollY > 0 ? firstPost?.dataset.postId : undefined,
    isFieldOutOfSight: !!box && !!dialog && (box.bottom < 10 || box.top > innerHeight - 10),
    bodyLength: shownText.trim().length,
    mainLength: document.querySelector('main')?.innerText.trim().length ?? 0,
    title: document.title,
    dialogs: dialogs.map((it) => it.getAttribute('aria-label') ?? ''),
    hasFocusInDialog: !dialog || dialog.contains(activeElement),
    focused: activeElement ? `${activeElement.localName} ${activeElement.id}`.trim() : '',
    toasts: all('[role=status][popover] > *').map((it) => it.innerText),
    busy: all('[aria-busy=true]').map((it) => `${it.localName} ${nameOf(it)}`),
    repeatedPosts,
    sideways: Math.max(...widest),
    strangeWords: shownText.match(/\b(?:undefined|NaN|null)\b|\[object /g) ?? [],
    controls,
    fields,
    everything: [onScreen, ...stored.flat()].join('\n'),
    onScreen,
    texts: Object.fromEntries(
      Object.entries(localStorage).filter(([name]) => name.startsWith('text ')),
    ),
  }
}
