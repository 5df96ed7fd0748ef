import { type KeyboardEvent, useState } from 'react'

/** For a button that opens a list: `button` is its element while the list is open. */
export function useMenuButton() {
  const [button, setButton] = useState<HTMLElement | null>(null)

  function openByKey(event: KeyboardEvent<HTMLElement>): void {
    if (button || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    setButton(event.currentTarget)
  }

  return {
    button,
    close: () => setButton(null),
    buttonProps: {
      'aria-expanded': button !== null,
      onClick: ({ currentTarget }: { currentTarget: HTMLElement }) =>
        setButton(button ? null : currentTarget),
      onKeyDown: openByKey,
    },
  }
}
