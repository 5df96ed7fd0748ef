import { PATHS } from '../../../contract/pages.ts'
/** The address of a post's page. */
export function postPath(id: string): string {
  return PATHS.post.replace(':id', encodeURIComponent(id))
}
