/** Joins class names and skips false and undefined ones: classes('a', pressed && 'b', className). */
export function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
