/** The title of a browser tab: '{title} - {app name}', or the app name alone where a page has no title. */
export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}
