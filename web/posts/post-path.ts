/** The address of a post's page. */
export function postPath(id: string): string {
  return `/posts/${encodeURIComponent(id)}`
}
