import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RelaxNGValidator, XmlDocument, XmlElement } from 'libxml2-wasm'

const NAMESPACES = {
  atom: 'http://www.w3.org/2005/Atom',
  xhtml: 'http://www.w3.org/1999/xhtml',
  sitemap: 'http://www.sitemaps.org/schemas/sitemap/0.9',
}

type XmlNode = { content: string; attributes: Record<string, string> }

/** Throws, as libxml2 does, if the document is not well-formed. */
export function findInXml(xml: string, path: string): XmlNode[] {
  using document = XmlDocument.fromString(xml)
  return document.find(path, NAMESPACES).map((node) => ({
    content: node.content,
    attributes: Object.fromEntries(
      node instanceof XmlElement ? node.attrs.map(({ name, value }) => [name, value]) : [],
    ),
  }))
}

export function textsInXml(xml: string, path: string): string[] {
  return findInXml(xml, path).map(({ content }) => content)
}

const atomSchema = RelaxNGValidator.fromDoc(
  XmlDocument.fromString(readFileSync(join(import.meta.dirname, 'atom.rng'), 'utf8')),
)

/** Throws, with the reasons, if the document is not an Atom feed or entry by RFC 4287. */
export function requireAtom(xml: string): void {
  using document = XmlDocument.fromString(xml)
  atomSchema.validate(document)
}
