import Type from 'typebox'

const Url = Type.String({ pattern: '^https?://' })
const Moment = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
const nothingElse = { additionalProperties: false }

const Item = Type.Object(
  {
    id: Url,
    url: Url,
    content_text: Type.String(),
    date_published: Moment,
    date_modified: Type.Optional(Moment),
    authors: Type.Array(Type.Object({ name: Type.String() }, nothingElse)),
  },
  nothingElse,
)

/** What the wall's feeds contain of https://jsonfeed.org/version/1.1. */
export const JsonFeed = Type.Object(
  {
    version: Type.Literal('https://jsonfeed.org/version/1.1'),
    title: Type.String(),
    home_page_url: Url,
    feed_url: Url,
    next_url: Type.Optional(Url),
    icon: Url,
    language: Type.String(),
    items: Type.Array(Item),
  },
  nothingElse,
)
