import { pageFlags } from '../platform/flags.ts'

export type Theme = 'dark' | 'light'

export function showTheme(theme: Theme): void {
  pageFlags().theme = theme
  const scheme = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')
  if (scheme) scheme.content = theme
  const bar = document.querySelector<HTMLMetaElement>('meta[name=theme-color]')
  if (bar) bar.content = bar.dataset[theme] || bar.content
}

/** Hides a notice by a style rule, which also applies to elements that are rendered later. */
export function hideNotice(id: string): void {
  const sheet = new CSSStyleSheet()
  sheet.insertRule(`[data-notice-id="${CSS.escape(id)}"] { display: none }`)
  document.adoptedStyleSheets.push(sheet)
}
