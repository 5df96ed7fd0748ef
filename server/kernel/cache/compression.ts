import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Higher levels cost several times as much CPU for some percent. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6
const ACCEPTS_BROTLI = /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

export function compressBrotli(body: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  return promisify(brotliCompress)(body, { params })
}

export function compressGzip(body: Buffer): Promise<Buffer> {
  return promisify(gzip)(body, { level: GZIP_LEVEL })
}

export function acceptsGzip(acceptEncoding: unknown): boolean {
  return typeof acceptEncoding === 'string' && ACCEPTS_GZIP.test(acceptEncoding)
}

export function acceptsBrotli(acceptEncoding: unknown): boolean {
  return typeof acceptEncoding === 'string' && ACCEPTS_BROTLI.test(acceptEncoding)
}
