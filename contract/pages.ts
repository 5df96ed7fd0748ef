/** The paths of the web app's pages. The server answers 404 at any other address. */
export const PATHS = {
  wall: '/',
  post: '/posts/:id',
  liked: '/liked',
  ownPosts: '/own/posts',
  ownReplies: '/own/replies',
  settings: '/settings',
  email: '/settings/account/email',
  username: '/settings/account/username',
  devices: '/settings/devices',
  emailUndo: '/email-undo',
} as const

/** The path of a post's page. */
export function postPath(id: string): string {
  return PATHS.post.replace(':id', encodeURIComponent(id))
}

/** Titles that the server writes into the HTML too, for crawlers and link previews. */
export const TITLES = {
  wall: 'Стена',
  noPost: 'Запись не найдена',
  noPage: 'Страница не существует',
} as const

/** Returns the title of a browser tab: '{title} - {app name}', or the app name alone for a page without a title. */
export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}
