// Versions as distributions number them: an old upstream version that may well be mended.
import { MAX_VERSION_LENGTH } from './key.ts';

export interface DistributionVersion {
  readonly upstream: string;
  readonly distribution: string;
}

/** Marks of distributions in a version, most telling first. `-fips` is what Red Hat's family calls its OpenSSL. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [/[-+~. ]?\d*ubuntu|[-+~](?:trusty|xenial|bionic|focal|jammy|noble)/, 'ubuntu'],
  [/[-+~. ]?\d*raspbian|\+rpi\d|\+rpt\d/, 'raspbian'],
  [/\+deb\d|~deb\d|~bpo\d|[-+~ ]debian|deb\.sury\.org|\+dfsg/, 'debian'],
  [/[-+~](?:sarge|etch|lenny|squeeze|wheezy|jessie|stretch|buster|bullseye|bookworm|trixie)/, 'debian'],
  [/\.el\d+[a-z0-9_.+]*\.centos/, 'centos'],
  [/\.amzn\d/, 'amazon'],
  [/\.fc\d/, 'fedora'],
  [/\.(?:module_)?el\d|-fips$/, 'red hat'],
  [/[-.](?:lp|bp|sle)\d{2}|\.suse/, 'suse'],
  [/-\d+\.mga\d/, 'mageia'],
  [/-r\d+$/, 'alpine'],
];

const BARE_NUMBERS = /^[\d.]*$/;
/** Numbers, letters of a patch and what was added to the source, then a revision: `7.4.33-1`, `8.4p1-5`, `1.2.11+git1-2`. */
const REVISED = /^(?:\d+:)?(\d+(?:\.\d+)*(?:[a-z]{1,2}\d*)?)(?:[+~][a-z0-9.+~]*)?-\d[a-z0-9.+~_]*$/;

/** The upstream version and the distribution that packed it; null where the text shows none. */
export function distributionOf(version: string): DistributionVersion | null {
  if (version.length > MAX_VERSION_LENGTH) return null;
  const text = version.trim().toLowerCase();
  if (BARE_NUMBERS.test(text)) return null;
  for (const [mark, distribution] of MARKS) {
    const match = mark.exec(text);
    if (match === null) continue;
    const upstream = upstreamOf(text, match.index);
    if (/^\d/.test(upstream)) return { upstream, distribution };
  }
  return null;
}

/** What stands before a revision that may be anybody's: whoever packed it may have mended it. Null where there is none. */
export function withoutRevision(version: string): string | null {
  if (version.length > MAX_VERSION_LENGTH) return null;
  return REVISED.exec(version.trim().toLowerCase())?.[1] ?? null;
}

/** What stands before the revision: at the last hyphen or space, else where the distribution's own part begins. */
function upstreamOf(text: string, markAt: number): string {
  const before = text.slice(0, markAt + 1);
  const cut = Math.max(before.lastIndexOf('-'), before.indexOf(' '));
  const packed = text.slice(0, cut > 0 ? cut : Math.max(markAt, 0)).replace(/^\d+:/, '');
  return packed.replace(/[+~](?:dfsg|ds).*$/, '');
}
