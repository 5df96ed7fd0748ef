/**
 * Shows the number of unread replies on the icon of the installed app; 0 removes it. Does nothing in
 * browsers without badges, on plain http, and if the system refuses.
 */
export function showOnIcon(unread: number): void {
  const shown = navigator.setAppBadge?.(unread)
  shown?.catch(() => {})
}
