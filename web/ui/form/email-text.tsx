import { Fragment } from 'react'
import { emailInLetters } from '../../format/email-in-letters.ts'

/** Shows an address that may wrap after its «@» and its dots. */
export function EmailText({ address }: { address: string }) {
  const parts = emailInLetters(address).split(/(?<=[@.])/)
  return parts.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part has nothing but its place
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
