// XML text and dates, and documents in their declared encoding.
import type { FeedCharset, FeedZone } from '../plan.ts';

/** Offset of `east`. */
const OFFSET_MS = 2 * 3_600_000;

/** The windows-1252 characters outside ISO 8859-1 that our texts use. */
const WINDOWS_1252: Readonly<Record<string, number>> = {
  '€': 0x80,
  '…': 0x85,
  '’': 0x92,
  '“': 0x93,
  '”': 0x94,
  '–': 0x96,
};

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
}

/** A CDATA section cannot contain its own end: it is split there. */
export function cdata(text: string): string {
  return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

export function encode(text: string, charset: FeedCharset): Buffer {
  switch (charset) {
    case 'utf-8':
      return Buffer.from(text);
    case 'windows-1252':
      return Buffer.from(Array.from(text, (character) => windows1252(character)));
    case 'utf-16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf-16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    default:
      return charset satisfies never;
  }
}

function windows1252(character: string): number {
  const code = WINDOWS_1252[character] ?? character.charCodeAt(0);
  if (code > 0xff) throw new RangeError(`'${character}' in windows-1252`);
  return code;
}

/** RFC 822 section 5, with a four-digit year. */
export function rfc822(at: number, zone: FeedZone): string {
  if (zone === 'utc') return new Date(at).toUTCString();
  return new Date(at + OFFSET_MS).toUTCString().replace('GMT', '+0200');
}

/** RFC 3339 */
export function dateTime(at: number, zone: FeedZone): string {
  const shifted = new Date(zone === 'utc' ? at : at + OFFSET_MS);
  return shifted.toISOString().replace('.000Z', zone === 'utc' ? 'Z' : '+02:00');
}
