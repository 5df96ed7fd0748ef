/** A pause between texts that only their looks separate: screen readers read them as one text. */
export function Pause({ mark = '.' }: { mark?: string }) {
  return <span className="visually-hidden">{`${mark} `}</span>
}
