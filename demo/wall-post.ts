/** The people of the demo's wall. */
export const PEOPLE = [
  'zapyataya',
  'sestra_nina',
  'pekar_zakhar',
  'vagon_47',
  'papa_dvoih',
  'nastroyshik',
  'lev_s_lekcii',
  'tonya_s_dachi',
] as const

/** The person whom the demo's link signs in: a proofreader. */
export const VIEWER: Person = 'zapyataya'

export type Person = (typeof PEOPLE)[number]

/** A post of the demo, with the replies to it. */
export type WallPost = {
  by: Person
  /** How many minutes ago it was published. */
  ago: number
  text: string
  /** How many of PEOPLE like it. */
  likes?: number
  /** Whether its author has edited it. */
  isEdited?: boolean
  replies?: WallPost[]
}

/** An hour, a day and a week in minutes. */
export const HOUR = 60
export const DAY = 24 * HOUR
export const WEEK = 7 * DAY
