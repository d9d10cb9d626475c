// Text as XML takes it, and documents as bytes of the encoding that they declare.
import type { FeedCharset } from './plan.ts';

/** Characters of windows-1252 beyond ISO 8859-1 that our texts use. */
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

/** A section cannot hold its own end: it is split there. */
export function cdata(text: string): string {
  return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

export function encode(text: string, charset: FeedCharset): Buffer {
  switch (charset) {
    case 'utf-8':
      return Buffer.from(text);
    case 'windows-1252':
      return Buffer.from(Array.from(text, (character) => WINDOWS_1252[character] ?? character.charCodeAt(0)));
    case 'utf-16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf-16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    default:
      return charset satisfies never;
  }
}
