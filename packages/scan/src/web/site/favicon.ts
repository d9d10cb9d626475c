// The icon of a site, and its hash as users of Shodan know it (`http.favicon.hash`).
import { type FaviconEvidence, type HttpEvidence, registrableDomain } from '@strata/detect';
import { redirectTarget } from '../redirect.ts';
import { type Answered, isBlockedStatus } from './response-evidence.ts';
import type { SiteVisit } from './site-visit.ts';

const MAX_BYTES = 128 * 1024;
const MAX_REDIRECTS = 2;
const WANTED = { accept: 'image/*, */*;q=0.1', maxBodyBytes: MAX_BYTES } as const;
/** How ICO, PNG, GIF, JPEG, BMP, WebP and AVIF begin, in Latin-1; servers declare any type for icons. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: bytes of an image
const IMAGE = /^(?:\0\0\x01\0|\x89PNG|GIF8|\xff\xd8\xff|BM|RIFF.{4}WEBP|.{4}ftypavi[fs])/s;
const SVG = /^\s*image\/svg\+xml\s*(?:;|$)/i;

export const noIcon = (status: FaviconEvidence['status'], detail: string): FaviconEvidence => ({
  ...{ status, hash: null, detail },
});

/**
 * Asks for the icon that the home page links on its own host, else for `/favicon.ico`; redirects are followed within the domain. A
 * file that is cut off or too large is not hashed, and one that is not an image is `missing`.
 */
export async function fetchFavicon(visit: SiteVisit, home: HttpEvidence): Promise<FaviconEvidence> {
  const { status, statusCode, url: pageUrl, page } = home;
  if (status !== 'found' || (statusCode ?? 500) >= 400 || pageUrl === null || page === null)
    return noIcon('skipped', 'no home page was read');
  let url = new URL('/favicon.ico', pageUrl);
  const linked = URL.parse(page.icon ?? '', pageUrl);
  if (linked?.origin === url.origin && page.icon !== undefined) url = linked;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await visit.page(url, WANTED);
    if (!('kind' in answer)) return noIcon(answer.status, answer.detail);
    const next = redirectTarget(answer.statusCode, answer.headers.location, url);
    if (next === undefined) return iconOf(answer);
    if (registrableDomain(next.hostname) !== visit.domain || !['http:', 'https:'].includes(next.protocol))
      return noIcon('skipped', `redirected to ${next.origin}`.slice(0, 300));
    url = next;
  }
  return noIcon('failed', 'too many redirects');
}

function iconOf(answer: Answered): FaviconEvidence {
  const { statusCode, headers, body, isTruncated } = answer;
  if (statusCode === 404 || statusCode === 410) return noIcon('missing', `answered ${statusCode}`);
  if (statusCode !== 200) return noIcon(isBlockedStatus(answer) ? 'blocked' : 'failed', `answered ${statusCode}`);
  const head = body.toString('latin1', 0, 1_024);
  const isSvg = SVG.test(headers['content-type'] ?? '') && head.includes('<svg');
  if (!isSvg && !IMAGE.test(head)) return noIcon('missing', 'not an image');
  if (isTruncated) return noIcon('failed', 'larger than 128 KiB, or cut off');
  return { status: 'found', hash: faviconHash(body) };
}

/** Of the base64 text with a line break after every 76 characters and at the end (RFC 2045 §6.8, as Python's `encodebytes`). */
export function faviconHash(icon: Buffer): number {
  return murmur3(Buffer.from(icon.toString('base64').replace(/.{1,76}/g, '$&\n')));
}

const rotated = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));
const scrambled = (block: number) => Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);

/** MurmurHash3_x86_32 with seed 0, as a signed number: https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp */
export function murmur3(bytes: Buffer): number {
  const end = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let at = 0; at < end; at += 4)
    hash = (Math.imul(rotated(hash ^ scrambled(bytes.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0;
  if (end < bytes.length) hash ^= scrambled(bytes.readUIntLE(end, bytes.length - end));
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
