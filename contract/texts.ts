import Type from 'typebox'
import { endpoint, strictObject } from './endpoint.ts'

export const TextName = Type.Enum(['about', 'rules', 'privacy', 'consent', 'contacts'])
export type TextName = Type.Static<typeof TextName>

/** A text of the site: its title, and its content as HTML without scripts. */
export const SiteText = strictObject({ title: Type.String(), html: Type.String() })
export type SiteText = Type.Static<typeof SiteText>

export const readText = endpoint('GET', '/texts/:name', {
  access: 'public',
  summary: 'A text of the site: about it, its rules, its privacy policy, its contacts',
  params: strictObject({ name: TextName }),
  status: 200,
  answer: SiteText,
  errors: [],
})
