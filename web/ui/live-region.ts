/**
 * Returns the attributes of an element in which something appears that is announced. The element
 * must stay mounted. While it is empty it has no role, which a screen reader would stop at.
 */
export function liveRegion(isFilled: boolean, role: 'status' | 'alert' = 'status') {
  return {
    'aria-live': role === 'alert' ? 'assertive' : 'polite',
    'aria-atomic': true,
    ...(isFilled && { role }),
  } as const
}
