// The schema of a record for `strata stack explain`: pasted data of a domain, validated and bounded.
import { z } from 'zod';
import type { CaaRecord, DsRecord, SoaRecord } from './evidence/evidence.ts';

/** Limits: larger than any real zone or page, and small enough to bound the work. */
const MAX_ENTRIES = 512;
const Host = z.string().max(1024).transform(cleanHost);
const Text = z.string().max(65_535);
const Texts = z.array(Text).max(5000);

const Address = z.object({
  address: z.string().max(64),
  asn: z.int().positive().max(4_294_967_295).nullish(),
  as_name: z.string().max(256).nullish(),
});
const Addresses = z.array(Address).max(64);
const HostAddresses = z.array(Address.extend({ host: Host })).max(64);

function mapOf<T extends z.ZodType>(value: T) {
  return z.record(z.string().max(1024), value).refine(isShort, 'has too many entries');
}

/** A line of a zone file, parsed by `read`, which returns null for an invalid line. */
function line<T>(read: (text: string) => T | null, form: string) {
  return Text.transform((text, context) => {
    const value = read(text.trim());
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: `is not of the form '${form}'` });
    return z.NEVER;
  });
}

export const DomainRecord = z.object({
  domain: z.string().max(1024),
  ns: z.array(Host).max(64).optional(),
  soa: line(toSoa, 'mname rname serial').optional(),
  mx: z
    .array(z.object({ preference: z.int().min(0).max(65_535), exchange: Host }))
    .max(64)
    .optional(),
  txt: Texts.optional(),
  dmarc: Text.optional(),
  dkim: mapOf(Text).optional(),
  /** By label: `_amazonses`. */
  txt_at: mapOf(Text).optional(),
  caa: z.array(Text.transform(toCaa)).max(64).optional(),
  ds: z.array(line(toDs, 'key-tag algorithm digest-type digest')).max(64).optional(),
  cname: mapOf(Host).optional(),
  a: Addresses.optional(),
  aaaa: Addresses.optional(),
  www: Addresses.optional(),
  mx_addresses: HostAddresses.optional(),
  ns_addresses: HostAddresses.optional(),
  spf_policies: mapOf(Texts).optional(),
  dmarc_parents: mapOf(Texts).optional(),
  report_consents: mapOf(Texts).optional(),
  headers: mapOf(Text).optional(),
  cookies: z.array(z.string().max(4096)).max(512).optional(),
  html: z.string().max(16_777_216).optional(),
  mta_sts_policy: Text.optional(),
  security_txt: Text.optional(),
  tls_issuer: z.string().max(1024).optional(),
});
export type DomainRecord = z.infer<typeof DomainRecord>;
export type GivenAddress = z.infer<typeof Address> & { readonly host?: string };

export function cleanHost(host: string): string {
  const lower = host.trim().toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function isShort(entries: object): boolean {
  return Object.keys(entries).length <= MAX_ENTRIES;
}

/** RFC 1035 §3.3.13 in zone-file form; fields after the serial are ignored. */
function toSoa(text: string): SoaRecord | null {
  const [, mname, rname, serial] = /^(\S{1,1024})\s+(\S{1,1024})\s+(\d{1,10})(?:\s|$)/.exec(text) ?? [];
  if (mname === undefined || rname === undefined) return null;
  return { mname: cleanHost(mname), rname: cleanHost(rname), serial: Number(serial) };
}

/** RFC 4034 §5.3: the digest may be split by spaces. */
function toDs(text: string): DsRecord | null {
  const [, keyTag, algorithm, digestType, digest] =
    /^(\d{1,5})\s+(\d{1,3})\s+(\d{1,3})\s+([0-9a-f\s]{1,1024})$/i.exec(text) ?? [];
  if (digest === undefined) return null;
  return {
    keyTag: Number(keyTag),
    algorithm: Number(algorithm),
    digestType: Number(digestType),
    digest: digest.replace(/\s/g, '').toLowerCase(),
  };
}

/** Zone-file form (`0 issue "ca.example"`) or the bare issuer. */
function toCaa(text: string): CaaRecord {
  const match = /^\s*(\d{1,3})\s+([A-Za-z0-9]+)\s+(.*)$/s.exec(text);
  if (!match) return { critical: false, tag: 'issue', value: unquote(text) };
  const [, flags = '0', tag = 'issue', value = ''] = match;
  return { critical: Number(flags) >= 128, tag: tag.toLowerCase(), value: unquote(value) };
}

function unquote(text: string): string {
  return text.trim().replace(/^"|"$/g, '');
}
