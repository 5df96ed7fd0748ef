export type Theme = 'dark' | 'light'

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  const scheme = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')
  if (scheme) scheme.content = theme
  const bar = document.querySelector<HTMLMetaElement>('meta[name=theme-color]')
  if (bar) bar.content = bar.dataset[theme] ?? bar.content
}
