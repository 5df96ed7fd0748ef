import { escapeHtml } from '../../kernel/http/escape.ts'
import { EXPORTED_LISTS, type ExportedPost } from './data-export.repository.ts'

type Content = {
  appName: string
  account: Record<string, unknown>
  posts: AsyncIterable<ExportedPost[]>
}

const STYLE = `body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }
article { padding: 1rem 0; border-top: 1px solid #ccc } p { white-space: pre-wrap; overflow-wrap: anywhere }
small { color: #666 } dt { color: #666 } dd { margin: 0 0 .5rem }`

const ARCHIVED: Record<string, string> = {
  removed: 'удалено модератором',
  hidden: 'скрыто до решения модератора',
  deleted: 'удалено вами, хранится как материал жалобы',
  left: 'скрыто вместе с аккаунтом',
}

const DATE = new Intl.DateTimeFormat('ru-RU', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

export async function* readablePage({ appName, account, posts }: Content): AsyncGenerator<string> {
  const name = escapeHtml(appName)
  const lists = Object.entries(EXPORTED_LISTS).map(([file, { about }]) => `${about} — в ${file}`)
  yield `<!doctype html><html lang="ru"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Мои данные — ${name}</title><style>${STYLE}</style>
<h1>Мои данные на сайте «${name}»</h1>
<dl><dt>Имя пользователя</dt><dd>${text(account.username)}</dd>
<dt>Почта</dt><dd>${text(account.email)}</dd>
<dt>Аккаунт создан</dt><dd>${time(String(account.registeredAt))}</dd></dl>
<p>Сессии, жалобы и прочее — в файле account.json, записи — в posts.json, ${lists.join(', ')}.</p>
<h2>Записи и ответы</h2>\n`
  let isEmpty = true
  for await (const step of posts) {
    isEmpty = false
    yield step.map(article).join('')
  }
  if (isEmpty) yield '<p>Записей нет.</p>\n'
  yield '</html>\n'
}

function article(post: ExportedPost): string {
  const facts = [
    time(post.publishedAt),
    post.repliedPostId !== null && `ответ на запись ${post.repliedPostId}`,
    post.isModified && 'изменено',
    post.clarificationId !== null && `уточнено ответом ${post.clarificationId}`,
    `«Нравится»: ${post.likes}`,
    post.archived !== null && (ARCHIVED[post.archived] ?? post.archived),
  ]
  return `<article><p>${text(post.text)}</p><small>${facts.filter(Boolean).join(' · ')}</small></article>\n`
}

function text(value: unknown): string {
  return escapeHtml(String(value ?? ''))
}

function time(value: string): string {
  return `${DATE.format(new Date(value))} UTC`
}
