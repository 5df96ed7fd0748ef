/** The digits in what was typed or pasted, at most `length` of them: '123 456' gives '123456'. */
export function codeDigits(text: string, length: number): string {
  return text.normalize('NFKC').replace(/\D/g, '').slice(0, length)
}

/** What a paste makes of the code: a whole code replaces what stands there, a part is added to it. */
export function pasteCode(code: string, pasted: string, length: number): string {
  const digits = codeDigits(pasted, length)
  return digits.length === length ? digits : codeDigits(code + digits, length)
}
