import { PATHS } from '../../contract/pages.ts'
/** The top-level pages, which the feed switcher offers, by their paths. */
export const FEED_VIEWS = [
  { value: PATHS.wall, label: 'Новые' },
  { value: PATHS.liked, label: 'Понравившиеся' },
  { value: PATHS.ownPosts, label: 'Мои записи' },
  { value: PATHS.ownReplies, label: 'Мои ответы' },
] as const

export type FeedView = (typeof FEED_VIEWS)[number]['value']

/** The top-level page at a path; undefined for every other page. */
export function feedViewAt(pathname: string): FeedView | undefined {
  return FEED_VIEWS.find(({ value }) => value === pathname)?.value
}
