import Type from 'typebox'
import { TEXT_NAMES } from './constants.ts'
import { endpoint, strictObject } from './endpoint.ts'

export type TextName = (typeof TEXT_NAMES)[number]

export const SiteText = strictObject({
  title: Type.String(),
  html: Type.String({ description: 'Safe HTML without a heading' }),
})
export type SiteText = Type.Static<typeof SiteText>

export const readText = endpoint('GET', '/texts/:name', {
  access: 'public',
  summary: 'A text of the site: about it, its rules, its privacy policy, its contacts',
  params: strictObject({ name: Type.Enum(TEXT_NAMES) }),
  answer: SiteText,
})
