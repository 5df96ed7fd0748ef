/** The web app's pages by their paths. The server knows them too: at any other address its answer is a 404. */
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

/** Titles that the server says as well, for crawlers and previews of links. */
export const TITLES = {
  wall: 'Стена',
  noPost: 'Запись не найдена',
  noPage: 'Страница не существует',
} as const

/** The title of a browser tab: '{title} - {app name}', or the app name alone where a page has no title. */
export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}
