/** Joins the class names that are there: classes('a', pressed && 'b', className). */
export function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
