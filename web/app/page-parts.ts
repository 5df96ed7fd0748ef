import type { ComponentType } from 'react'
import { createPart } from '../ui/part.ts'

/** The pages but the wall, which comes with the first chunk; each is fetched when it is first opened. */
export const PAGES = {
  post: page(async () => (await import('../pages/post-page.tsx')).PostPage),
  liked: page(async () => (await import('../pages/liked.tsx')).LikedPage),
  ownPosts: page(async () => (await import('../pages/own-posts.tsx')).OwnPostsPage),
  ownReplies: page(async () => (await import('../pages/own-replies.tsx')).OwnRepliesPage),
  settings: page(async () => (await import('../pages/settings.tsx')).SettingsPage),
  email: page(async () => (await import('../pages/settings-email.tsx')).SettingsEmailPage),
  username: page(async () => (await import('../pages/settings-username.tsx')).SettingsUsernamePage),
  devices: page(async () => (await import('../pages/settings-devices.tsx')).SettingsDevicesPage),
  emailUndo: page(async () => (await import('../pages/email-undo.tsx')).EmailUndoPage),
  notFound: page(async () => (await import('../pages/not-found.tsx')).NotFoundPage),
}

/**
 * Begins to load the page of a post where a visit begins with one. The first render would ask for it too late, and
 * show a ring where the post could already stand.
 */
export function loadFirstPage(pathname: string): void {
  if (pathname.startsWith('/posts/')) void PAGES.post.ahead()
}

function page(load: () => Promise<ComponentType>) {
  return createPart(load)
}
