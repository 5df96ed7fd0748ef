import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Config } from '../../server/kernel/config/config.ts'
import { dkimPublicKey } from '../../server/kernel/mail/dkim.ts'
import { domainOf } from '../../server/kernel/mail/email-address.ts'
import {
  findMissingRecords,
  mailRecords,
  readTxtRecords,
} from '../../server/operations/doctor/mail-checks.ts'
import { readAsWall } from './machine.ts'

type Site = Pick<Config, 'mailFrom' | 'dkim'> & {
  host: string
  smtpUrl: string
  contact: string
}

/** Returns whether mails come from the site's own domain, whose records its operator can set. */
export function isOwnDomain({ host, mailFrom }: Pick<Site, 'host' | 'mailFrom'>): boolean {
  const domain = domainOf(mailFrom)
  return host === domain || host.endsWith(`.${domain}`) || domain.endsWith(`.${host}`)
}

/** Returns the missing DNS records as lines of a zone file; undefined if DNS does not answer. */
export async function missingRecords(site: Site): Promise<string[] | undefined> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const addresses = await missingAddresses(site.host, resolver)
  if (!isOwnDomain(site)) return addresses
  const dkim = site.dkim && {
    selector: site.dkim.selector,
    publicKey: dkimPublicKey(await readAsWall(site.dkim.keyFile)),
  }
  const missing = await findMissingRecords(mailRecords(site.mailFrom, dkim), resolver)
  if (!addresses || !missing) return undefined
  const values: Record<string, () => Promise<string> | string> = {
    SPF: async () => `v=spf1 ${await spfSource(site.smtpUrl, resolver)} ~all`,
    DMARC: () => `v=DMARC1; p=none; rua=mailto:${site.contact}`,
    DKIM: () => `v=DKIM1; k=rsa; p=${dkim?.publicKey}`,
  }
  const texts = missing.map(async ({ name, at }) => textRecord(at, (await values[name]?.()) ?? ''))
  return [...addresses, ...(await Promise.all(texts))]
}

/** Returns a TXT record. Splits the text into strings of 255 characters, the longest allowed. */
function textRecord(at: string, text: string): string {
  const parts = text.match(/.{1,255}/g) ?? []
  return `${at}. 3600 IN TXT ${parts.map((part) => `"${part}"`).join(' ')}`
}

/** Returns the missing address records: none if one leads here, as others may be private. */
async function missingAddresses(host: string, resolver: Resolver): Promise<string[] | undefined> {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter((address) => ipaddr.parse(address).range() === 'unicast')
  const noRecord = ({ code }: NodeJS.ErrnoException) =>
    code === 'ENODATA' || code === 'ENOTFOUND' ? [] : undefined
  const v4 = await resolver.resolve4(host).catch(noRecord)
  const v6 = await resolver.resolve6(host).catch(noRecord)
  if (!v4 || !v6) return undefined
  const set = [...v4, ...v6]
  // Behind NAT the machine does not know its public address.
  if (own.length === 0)
    return set.length > 0 ? [] : [`${host}. 3600 IN A внешний.адрес.этого.сервера`]
  if (set.some((address) => own.includes(address))) return []
  return own.map((address) => `${host}. 3600 IN ${address.includes(':') ? 'AAAA' : 'A'} ${address}`)
}

/** Returns the SPF mechanism for the SMTP server: its domain's own SPF record if there is one. */
async function spfSource(smtpUrl: string, resolver: Resolver): Promise<string> {
  const { hostname } = new URL(smtpUrl)
  if (hostname === 'localhost' || hostname.startsWith('127.')) return 'a mx'
  const labels = hostname.split('.')
  for (let first = 0; first < labels.length - 1; first++) {
    const domain = labels.slice(first).join('.')
    const texts = (await readTxtRecords(resolver, domain)) ?? []
    if (texts.some((text) => /^v=spf1 (?!-all)/i.test(text))) return `include:${domain}`
  }
  return `a:${hostname}`
}
