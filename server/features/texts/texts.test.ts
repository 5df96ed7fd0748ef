import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TEXT_NAMES } from '../../../contract/constants.ts'
import { appForFile } from '../../testing/test-app.ts'
import { createTexts } from './texts.service.ts'

const app = await appForFile({ config: { operatorName: 'Ольга', contactEmail: 'o@example.org' } })
const pages = join(app.dataDir, 'pages')
await mkdir(pages)

const facts = {
  folder: '/nowhere',
  ...{ appName: 'Вслух', operatorName: 'ООО «Стена»', contactEmail: 'hello@wall.example' },
  ...{ origin: 'https://wall.example', removedDays: 30, accessJournalDays: 0 },
}

test.each(TEXT_NAMES)(
  '%s has a template that names the operator and leaves nothing to fill in',
  async (name) => {
    const { title, html } = await createTexts(facts)(name)
    expect(title).toMatch(/^[А-Я]/)
    expect(html).not.toContain('{{')
    expect(html).not.toContain(`<h1>`)
    expect(html).not.toContain(' — ')
    if (name !== 'rules') expect(html).toContain('ООО «Стена»')
  },
)

test('the page about personal data names how long data is kept, and addresses only if they are kept', async () => {
  const read = (more: Partial<typeof facts>) => createTexts({ ...facts, ...more })('privacy')
  const { html } = await read({ removedDays: 45 })
  expect(html).toContain('Хранятся (дней): 45;')
  expect(html).not.toContain('Сетевой адрес')
  const ordered = await read({ accessJournalDays: 1095 })
  expect(ordered.html).toMatch(
    /<li><strong>Сетевой адрес и порт<\/strong>.* Хранятся \(дней\): 1095/,
  )
  expect(ordered.html).toContain('<p>Пароля у вас нет')
})

test('the operator’s own file stands in the template’s place, and is read again when it changes', async () => {
  const read = () => app.read('/texts/rules')
  const rules = '# Наши правила\n\nПишет {{OPERATOR_NAME}}, а не {{constructor}}.\n'
  await writeFile(join(pages, 'rules.md'), rules)
  const html = '<p>Пишет Ольга, а не {{constructor}}.</p>'
  expect(await read()).toEqual({ title: 'Наши правила', html })
  const contacts = await app.read('/texts/contacts')
  expect(contacts.html).toContain('<a href="mailto:o@example.org">o@example.org</a>')
  const mail = '{{CONTACT_EMAIL}}, [мне](mailto:{{CONTACT_EMAIL}})'
  await writeFile(join(pages, 'about.md'), `# О стене\n\n${mail}\n`)
  const about = await app.read('/texts/about')
  expect(about.html).toBe(
    '<p><a href="mailto:o@example.org">o@example.org</a>, <a href="mailto:o@example.org">мне</a></p>',
  )
  await writeFile(join(pages, 'rules.md'), '# Другие правила\n')
  await expect.poll(read).toEqual({ title: 'Другие правила', html: '' })
})

test('nothing in a file becomes code: HTML is shown as it is written, and links lead to the web alone', async () => {
  const hostile = [
    '# О <script>alert(1)</script>',
    '<script>alert(2)</script>',
    '<img src=x onerror=alert(3)>',
    '[раз](javascript:alert(4)) [два](data:text/html,x) <javascript:alert(5)>',
    '[три](https://example.org/ "x\\" onclick=alert(6)")',
    '`</script><script>alert(7)</script>`',
  ]
  await writeFile(join(pages, 'privacy.md'), hostile.join('\n\n'))
  const { title, html } = await app.read('/texts/privacy')
  expect(title).toBe('О <script>alert(1)</script>')
  const tags = html.match(/<[^>]*>/g).map((tag: string) => tag.replace(/"[^"]*"/g, '""'))
  expect([...new Set(tags)].sort()).toEqual([
    ...['</a>', '</code>', '</p>', '<a href="" title="">', '<a href="">', '<code>', '<p>'],
  ])
  const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
  expect(new Set(targets)).toEqual(new Set(['', 'https://example.org/']))

  const body = await (await fetch(`${app.url}/privacy`)).text()
  expect(body).not.toMatch(/<script>alert/)
  expect(body).toContain('<title>О &#60;script&#62;alert(1)')
})
