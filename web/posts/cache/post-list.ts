/** A list of posts by their ids: what the server gave, page by page, and what happened here since. */
export type PostList = {
  pages: readonly (readonly string[])[]
  /** Published here after the list was read, newest first. */
  added: readonly string[]
  /** Deleted here after the list was read. */
  removed: readonly string[]
}

/** The ids to show, each once: those added here first, then the pages in their order. */
export function listIds(list: PostList): string[] {
  const ids = new Set([...list.added, ...list.pages.flat()])
  for (const id of list.removed) ids.delete(id)
  return [...ids]
}

/** Puts a newly published post before all others. Throws when the list has it already. */
export function addPost(list: PostList, id: string): PostList {
  if (hasPost(list, id)) throw new Error(`Пост с id=${id} уже существует`)
  return { ...list, added: [id, ...list.added] }
}

/** Takes a deleted post out of the list for good: a page read before the deletion may still bring it. */
export function removePost(list: PostList, id: string): PostList {
  return list.removed.includes(id) ? list : { ...list, removed: [...list.removed, id] }
}

/** Whether the list holds the post, shown or removed. */
export function hasPost(list: PostList, id: string): boolean {
  const { pages, added, removed } = list
  return [added, removed, ...pages].some((ids) => ids.includes(id))
}

/**
 * Whether `firstPage`, read later than the list, begins with a post that the list does not have. What follows the first
 * one that came with the pages is no news: it moved up as others were deleted.
 */
export function isBehind(list: PostList, firstPage: readonly string[]): boolean {
  const read = new Set(list.pages.flat())
  const end = firstPage.findIndex((id) => read.has(id))
  const newer = end < 0 ? firstPage : firstPage.slice(0, end)
  return newer.some((id) => !hasPost(list, id))
}
