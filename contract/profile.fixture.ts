import { Profile } from './account.ts'

/** The fields of an author that are texts. */
export const PROFILE_TEXTS = Object.entries(Profile.properties)
  .filter(([name, { type }]) => name !== 'id' && type === 'string')
  .map(([name]) => name)

/** An author with every optional text. Each text is the name of its field. */
export const PROFILE: Profile = {
  ...Object.fromEntries(PROFILE_TEXTS.map((name) => [name, name])),
  ...{ id: '1', username: 'username', created_at: 1000, posts_count: 1, replies_count: 0 },
}
