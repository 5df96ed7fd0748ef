import { type KeyboardEvent, type SyntheticEvent, useId, useRef, useState } from 'react'
import { nameBefore } from '../../../contract/mention-rules.ts'
import { plural } from '../../format/counts.ts'
import { liveRegion } from '../../ui/live-region.ts'
import { Monogram } from '../../ui/monogram.tsx'
import { optionId, Suggestions } from '../../ui/overlay/suggestions.tsx'
import { useSuggestedNames } from './name-suggestions.queries.ts'
import { parseTarget, type Target } from './stored-texts.ts'

const NAME_FORMS = { one: 'имя', few: 'имени', many: 'имён' }

type Area = HTMLTextAreaElement
type Writing = { target: Target; typed: string; isPending: boolean }

/**
 * Suggests names after `@` and two letters. Returns the properties of the text area, which keeps the
 * focus, and those of the list.
 */
export function useNameSuggestions({ target, typed, isPending }: Writing) {
  const listId = useId()
  const anchor = useRef<HTMLElement>(null)
  const { area, caret, ...followed } = useCaret()
  /** The `@` whose list the person has closed. */
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const [active, setActive] = useState(0)
  const { kind, postId } = parseTarget(target)
  const mayName = caret !== null && !isPending && kind !== 'appeal'
  const begun = mayName ? nameBefore(typed, caret) : null
  const found = useSuggestedNames(begun?.start ?? '', postId)
  const isOpen = begun !== null && begun.at !== closedAt && found.length > 0
  const users = isOpen ? found : []
  const chosen = Math.min(active, users.length - 1)

  function onInput(event: SyntheticEvent<Area>): void {
    followed.onSelect(event)
    setActive(0)
    if (event.currentTarget.value.charAt(closedAt ?? -1) !== '@') setClosedAt(null)
  }

  function choose(index: number): void {
    const user = users[index]
    if (!user || !begun || caret === null || !area.current) return
    const space = typed.charAt(caret) === ' ' ? '' : ' '
    area.current.setSelectionRange(begun.at, caret)
    // Can be undone. A new value could not.
    document.execCommand('insertText', false, `@${user.username}${space}`)
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isOpen || hasOtherMeaning(event)) return
    const { key } = event
    if (key === 'ArrowDown') setActive((chosen + 1) % users.length)
    else if (key === 'ArrowUp') setActive((chosen + users.length - 1) % users.length)
    else if (key === 'Enter' || key === 'Tab') choose(chosen)
    else if (key === 'Escape') setClosedAt(begun.at)
    else return
    // Escape does not close the dialog.
    event.preventDefault()
  }

  const popup = isOpen && {
    'aria-autocomplete': 'list' as const,
    'aria-haspopup': 'listbox' as const,
    'aria-controls': listId,
    'aria-activedescendant': optionId(listId, chosen),
    anchor: { at: begun.at, ref: anchor },
  }
  return {
    field: { ...followed, ...popup, onInput, onKeyDown },
    list: { id: listId, users, active: chosen, anchor, onPoint: setActive, onChoose: choose },
  }
}

/** Follows the caret, which is null without the focus and while something is selected. */
function useCaret() {
  const area = useRef<Area>(null)
  const [caret, setCaret] = useState<number | null>(null)
  return {
    area,
    caret,
    onSelect({ currentTarget }: SyntheticEvent<Area>): void {
      const { selectionStart, selectionEnd } = currentTarget
      area.current = currentTarget
      setCaret(selectionStart === selectionEnd ? selectionStart : null)
    },
    onBlur: () => setCaret(null),
  }
}

/** Returns whether a key belongs to an input method, or is pressed with others. */
function hasOtherMeaning({ ctrlKey, metaKey, altKey, shiftKey, nativeEvent }: KeyboardEvent) {
  const isComposing = nativeEvent.isComposing || nativeEvent.keyCode === 229
  return isComposing || ctrlKey || metaKey || altKey || shiftKey
}

export function SuggestedNames(props: ReturnType<typeof useNameSuggestions>['list']) {
  const { users, ...list } = props
  const count = users.length
  return (
    <div>
      <div {...liveRegion(count > 0)} className="visually-hidden">
        {count > 0 && `${count} ${plural(count, NAME_FORMS)}, выбор стрелками`}
      </div>
      {count > 0 && (
        <Suggestions
          {...list}
          label="Имена"
          items={users.map(({ id, username }) => ({
            ...{ id, label: username },
            icon: <Monogram name={username} />,
          }))}
        />
      )}
    </div>
  )
}
