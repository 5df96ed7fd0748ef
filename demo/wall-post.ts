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

/** The person that the demo's link signs in as: a proofreader. */
export const VIEWER: Person = 'zapyataya'

export type Person = (typeof PEOPLE)[number]

export type WallPost = {
  by: Person
  /** How many minutes ago it was published. */
  ago: number
  text: string
  /** How many of PEOPLE like it. */
  likes?: number
  isEdited?: boolean
  replies?: WallPost[]
}

/** In minutes. */
export const HOUR = 60
export const DAY = 24 * HOUR
export const WEEK = 7 * DAY
