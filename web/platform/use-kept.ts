import { useState } from 'react'

/** Returns the value, or while there is none the last one that there was. */
export function useKept<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value === undefined ? last : value
}
