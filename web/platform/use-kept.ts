import { useState } from 'react'

/** Returns the value; while it is undefined, the last defined one. */
export function useKept<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value === undefined ? last : value
}
