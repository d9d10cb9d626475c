// The kinds of observed records, and the form in which a value of each kind is stored and looked up.
import { addressText, parseAddress } from '../ranges/ip-address.ts';
import { Digest } from '../rulebook/digest.ts';

/**
 * `soa` is the zone's contact; `cname` a target of the apex or www; `redirect` another owner's domain that the site leads to.
 */
export const RECORD_KINDS = [
  'ns',
  'ns_set',
  'soa',
  'mx',
  'address',
  'network',
  'asn',
  'cname',
  'txt',
  'verification',
  'spf',
  'dmarc',
  'caa',
  'certificate_name',
  'certificate_issuer',
  'tag',
  'favicon',
  'redirect',
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** In UTF-16 units: below the limits of an index entry in both databases. */
export const MAX_VALUE_LENGTH = 255;
/** Of a longer value the beginning is kept, and a digest of all. */
const KEPT_LENGTH = 236;
const HOSTS = new Set<RecordKind>(['ns', 'soa', 'mx', 'cname', 'spf', 'certificate_name', 'redirect']);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** The value as it is stored; `''` for a text that cannot be a value of this kind. */
export function recordValue(kind: RecordKind, text: string): string {
  if (HOSTS.has(kind)) return shortened(hostText(text));
  switch (kind) {
    case 'ns_set':
      return shortened([...new Set(text.split(',').map(hostText))].filter(Boolean).sort().join(','));
    case 'address': {
      const words = parseAddress(text.trim());
      return words === null ? '' : addressText(words);
    }
    case 'asn': {
      const [, digits] = /^\s{0,8}(?:AS)?(\d{1,10})\s{0,8}$/i.exec(text) ?? [];
      return digits === undefined ? '' : `AS${Number(digits)}`;
    }
    case 'favicon': {
      // Some tools print the unsigned form.
      const hash = /^\s{0,8}-?\d{1,10}\s{0,8}$/.test(text) ? Number(text) : Number.NaN;
      return hash >= -(2 ** 31) && hash < 2 ** 32 ? String(hash | 0) : '';
    }
    default:
      return shortened(text.trim().replace(CONTROL, '\ufffd').toWellFormed());
  }
}

function hostText(text: string): string {
  const host = text.trim().toLowerCase().replace(CONTROL, '\ufffd').toWellFormed();
  return host.length > 1 && host.endsWith('.') ? host.slice(0, -1) : host;
}

function shortened(value: string): string {
  if (value.length <= MAX_VALUE_LENGTH) return value;
  return `${value.slice(0, KEPT_LENGTH).toWellFormed()}…#${new Digest().addText(value).hex}`;
}
