import { createHash } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { MOVED_PATH, postPath } from '../../contract/pages.ts'
import type { Config } from '../kernel/config/config.ts'
import { PAGE_FILES } from '../kernel/http/call-limits.ts'
import { escapeHtml } from '../kernel/http/escape.ts'
import { securityHeaders } from '../kernel/http/headers.ts'
import { HTML_TYPE } from '../kernel/http/refusal.ts'
import type { Limits } from '../kernel/limits/limits.ts'

/** Returns whether a host with its port is a former one of the wall, whose proxy leads here. */
export function isFormerHost({ formerUrls }: Pick<Config, 'formerUrls'>, host: string): boolean {
  return formerUrls.some((url) => new URL(url).host === host)
}

type Site = { http: FastifyInstance; config: Config; limits: Limits }

/**
 * Serves at a former address the texts that the browser keeps for it, to be copied. No other page of
 * a former address is served: its proxy redirects them.
 */
export function registerMovedPage({ http, config, limits }: Site): void {
  const { publicUrl } = config
  if (config.formerUrls.length === 0 || publicUrl === undefined) return
  const headers = securityHeaders(config, { scripts: [hashOf(SCRIPT)], styles: [hashOf(STYLE)] })
  const page = movedPage(publicUrl, config.appName)
  const onRequest = ({ ip }: { ip: string }) => limits.charge([{ limit: PAGE_FILES, ip }])
  http.get(MOVED_PATH, { onRequest }, (request, reply) => {
    if (!isFormerHost(config, request.host)) return reply.callNotFound()
    return reply
      .headers({ ...headers, 'cache-control': 'no-cache' })
      .type(HTML_TYPE)
      .send(page)
  })
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#fbf9f6, #131211); --ink: light-dark(#1d1a17, #ece8e3);
  --soft: light-dark(#6b635b, #a09990); --line: light-dark(#8d847a, #75706a); --brick: light-dark(#b03d27, #f07f65) }
body { margin: 0 auto; max-width: 34rem; padding: 24px 16px 48px; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 ui-sans-serif, system-ui, "Segoe UI", sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.375rem; line-height: 1.2 }
h2 { font-size: 1rem; margin: 32px 0 8px }
a { color: var(--brick) }
ol { list-style: none; margin: 0; padding: 0 }
li { border-top: 1px solid var(--line); padding: 16px 0 }
.what { color: var(--soft); font-size: .8125rem; margin: 0 0 8px }
.text { margin: 0 0 12px; white-space: pre-wrap; user-select: text }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 8px;
  min-height: 44px; padding: 8px 16px; cursor: pointer }
[hidden] { display: none }
`

/**
 * Reads what `web/posts/compose/stored-texts.ts` stores, and removes it only when asked. A text that
 * this origin handed to the other would be one that any page could plant there.
 */
const SCRIPT = `
const by = (id) => document.getElementById(id)
const site = document.documentElement.dataset.site
const KINDS = { new: 'Запись', reply: 'Ответ на ', edit: 'Правка ', clarify: 'Уточнение ', appeal: 'Обжалование ' }
function read() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith('text ')).flatMap((key) => {
      try {
        const { text, target, state, at } = JSON.parse(localStorage[key])
        return text ? [{ key, text: String(text), target: String(target), state, at: Number(at) }] : []
      } catch { return [] }
    }).sort((a, b) => b.at - a.at)
  } catch { return [] }
}
function show() {
  const texts = read()
  by('none').hidden = texts.length > 0
  by('some').hidden = texts.length === 0
  by('texts').replaceChildren(...texts.map(({ text, target, state }) => {
    const item = document.createElement('li')
    const what = document.createElement('p')
    what.className = 'what'
    const [kind, id] = target.split(' ')
    what.append(KINDS[kind] ?? KINDS.new)
    if (id) {
      const link = document.createElement('a')
      link.href = site + '${postPath('')}' + encodeURIComponent(id)
      link.textContent = kind === 'reply' ? 'запись' : 'записи'
      what.append(link)
    }
    what.append(state === 'draft' ? ', черновик' : ', не отправлено')
    const shown = document.createElement('p')
    shown.className = 'text'
    shown.dir = 'auto'
    shown.textContent = text
    const copy = document.createElement('button')
    copy.type = 'button'
    copy.textContent = 'Скопировать'
    copy.onclick = async () => {
      try {
        await navigator.clipboard.writeText(text)
        by('said').textContent = copy.textContent = 'Скопировано'
      } catch {
        getSelection().selectAllChildren(shown)
        by('said').textContent = copy.textContent = 'Выделено: скопируйте сами'
      }
    }
    item.append(what, shown, copy)
    return item
  }))
}
by('remove').onclick = () => {
  if (!confirm('Удалить эти тексты из браузера? Вернуть их будет нельзя.')) return
  for (const { key } of read()) localStorage.removeItem(key)
  show()
}
addEventListener('storage', show)
show()
`

function movedPage(publicUrl: string, appName: string): string {
  const url = escapeHtml(publicUrl)
  const host = escapeHtml(domainToUnicode(new URL(publicUrl).hostname))
  const name = escapeHtml(appName)
  return `<!doctype html>
<html lang="ru" data-site="${url}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Стена переехала - ${name}</title>
<style>${STYLE}</style>
<h1>Стена переехала</h1>
<p>Новый адрес — <a href="${url}">${host}</a>. Там нужно войти ещё раз, по коду из письма.
<noscript><p>Черновики, которые остались здесь, видны со включёнными скриптами.</noscript>
<p id="none" hidden>В этом браузере по прежнему адресу нет ни черновиков, ни неотправленных текстов.
<section id="some" hidden>
<h2>Тексты, которые остались здесь</h2>
<p>Браузер хранит их для прежнего адреса и на новом не покажет. Скопируйте нужное и вставьте там.
<ol id="texts"></ol>
<button type="button" id="remove">Удалить их отсюда</button>
</section>
<p id="said" role="status">
<script>${SCRIPT}</script>
`
}
