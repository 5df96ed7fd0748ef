/** The target's length leaves room for three bytes in place of each. */
const RAW_LINE = /^(?:GET|HEAD) (\/(?![/\\])[!-~\x7f-\xff]{0,2000}) HTTP\/1\.[01]\r\n/

type ParseError = { code?: string; rawPacket?: unknown; bytesParsed?: number }

/**
 * Returns the percent-encoded target of a request that Node refuses for raw bytes in it, as curl
 * sends them; undefined for all others.
 */
export function encodedTarget({
  code,
  rawPacket,
  bytesParsed = 0,
}: ParseError): string | undefined {
  if (code !== 'HPE_INVALID_URL' || !Buffer.isBuffer(rawPacket)) return undefined
  const [line = '', target] = RAW_LINE.exec(rawPacket.toString('latin1')) ?? []
  // Beyond the line, the fault is another request's.
  if (target === undefined || bytesParsed >= line.length) return undefined
  const encoded = target.replace(
    /[^!-~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return encoded === target ? undefined : encoded
}
