/**
 * Keeps the click that the press under way will end in from everything on the page: the press has done its work by
 * closing what was in front. A press that ends in no click, as a scroll does, takes nothing from the next.
 */
export function swallowClick(): void {
  const done = new AbortController()
  const options = { capture: true, signal: done.signal }
  const end = () => done.abort()
  addEventListener(
    'click',
    (event) => {
      event.preventDefault()
      event.stopPropagation()
      end()
    },
    options,
  )
  addEventListener('pointerdown', end, options)
  addEventListener('keydown', end, options)
}
