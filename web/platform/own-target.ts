/** Returns whether an event's target is the app's: an element in its root, or the page around it. */
export function isOwn(target: EventTarget | null): target is Element {
  const root = document.getElementById('root')
  if (!root || !(target instanceof Element)) return false
  return root.contains(target) || target.contains(root)
}

/**
 * Returns whether a key was pressed in the app, and not in what a browser extension has added. Of
 * a field in an extension's shadow root, the app sees only the host, which itself takes no focus.
 */
export function isOwnKey(target: EventTarget | null): target is HTMLElement {
  if (!(isOwn(target) && target instanceof HTMLElement)) return false
  const isPage = target.contains(document.body)
  return isPage || target.tabIndex >= 0 || target.hasAttribute('tabindex')
}
