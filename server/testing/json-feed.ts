import Type from 'typebox'

const Url = Type.String({ pattern: '^https?://' })
const Author = Type.Object({
  name: Type.Optional(Type.String()),
  url: Type.Optional(Url),
  avatar: Type.Optional(Url),
})
const Date3339 = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$',
})
const optional = {
  language: Type.Optional(Type.String()),
  authors: Type.Optional(Type.Array(Author)),
}

const Item = Type.Intersect([
  Type.Object({
    ...optional,
    id: Type.String({ minLength: 1 }),
    url: Type.Optional(Url),
    external_url: Type.Optional(Url),
    title: Type.Optional(Type.String()),
    summary: Type.Optional(Type.String()),
    date_published: Type.Optional(Date3339),
    date_modified: Type.Optional(Date3339),
    tags: Type.Optional(Type.Array(Type.String())),
  }),
  Type.Union([
    Type.Object({ content_html: Type.String() }),
    Type.Object({ content_text: Type.String() }),
  ]),
])

/** https://jsonfeed.org/version/1.1 without attachments and hubs. */
export const JsonFeed = Type.Object({
  ...optional,
  version: Type.Literal('https://jsonfeed.org/version/1.1'),
  title: Type.String(),
  home_page_url: Type.Optional(Url),
  feed_url: Type.Optional(Url),
  description: Type.Optional(Type.String()),
  user_comment: Type.Optional(Type.String()),
  next_url: Type.Optional(Url),
  icon: Type.Optional(Url),
  favicon: Type.Optional(Url),
  expired: Type.Optional(Type.Boolean()),
  items: Type.Array(Item),
})
