/**
 * Makes a double click act as one click: some people double-click everything, and the second click
 * would take a like back, or close the dialog that the first one has opened.
 */
export function ignoreSecondClicks(): void {
  let pressed: Element | undefined
  addEventListener(
    'mousedown',
    (event) => {
      if (event.detail < 2) pressed = event.target as Element
      // Selects a word of a text, but does not take the focus from what the first click has opened.
      else if (event.target !== pressed || pressed.closest('button')) event.preventDefault()
    },
    true,
  )
  addEventListener(
    'click',
    (event) => {
      if (event.detail < 2) return
      event.preventDefault()
      event.stopImmediatePropagation()
    },
    true,
  )
}
