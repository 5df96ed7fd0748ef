import { useState } from 'react'
import { isEmail } from '../../contract/email.ts'

/**
 * What is wrong with an address, and whether to say so yet. While a person still types, what is unfinished is not wrong:
 * it is judged once they leave the input or press Enter, which a disabled button would let pass in silence.
 */
export function useEmailComplaint(email: string) {
  const [judged, setJudged] = useState(false)
  const complaint = emailComplaint(email.trim())
  return {
    complaint,
    shownComplaint: judged ? complaint : undefined,
    judging: {
      onBlur: () => setJudged(judged || email !== ''),
      onKeyDown: ({ key }: { key: string }) => setJudged(judged || key === 'Enter'),
    },
  }
}

function emailComplaint(email: string): string | undefined {
  if (email === '') return 'Введите email'
  return isEmail(email) ? undefined : 'Введите корректный email'
}
