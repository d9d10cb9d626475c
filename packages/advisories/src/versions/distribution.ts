// Version numbers of distributions: an old upstream version that may have backported fixes.
import { MAX_VERSION_LENGTH } from './key.ts';

export interface DistributionVersion {
  readonly upstream: string;
  readonly distribution: string;
}

/** Marks of distributions in a version, most specific first. `-fips` marks OpenSSL of Red Hat's family. */
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
/** Numbers, patch letters and source suffixes, then a revision: `7.4.33-1`, `8.4p1-5`, `1.2.11+git1-2`. */
const REVISED = /^(?:\d+:)?(\d+(?:\.\d+)*(?:[a-z]{1,2}\d*)?)(?:[+~][a-z0-9.+~]*)?-\d[a-z0-9.+~_]*$/;

/** The upstream version and the distribution that packaged it; null if the text shows none. */
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

/** The version before a revision of an unknown packager, who may have backported fixes. Null without a revision. */
export function withoutRevision(version: string): string | null {
  if (version.length > MAX_VERSION_LENGTH) return null;
  return REVISED.exec(version.trim().toLowerCase())?.[1] ?? null;
}

/** The text before the revision: up to the last hyphen or space, or to the beginning of the distribution's mark. */
function upstreamOf(text: string, markAt: number): string {
  const before = text.slice(0, markAt + 1);
  const cut = Math.max(before.lastIndexOf('-'), before.indexOf(' '));
  const packed = text.slice(0, cut > 0 ? cut : Math.max(markAt, 0)).replace(/^\d+:/, '');
  return packed.replace(/[+~](?:dfsg|ds).*$/, '');
}
