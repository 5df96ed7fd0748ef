import { type RefObject, useEffect } from 'react'

/** Focuses the element when it is mounted: after a dialog around it has opened, unlike the autofocus attribute. */
export function useFocusOnMount(ref: RefObject<HTMLElement | null>, wanted: boolean): void {
  useEffect(() => {
    if (wanted) ref.current?.focus()
  }, [ref, wanted])
}
