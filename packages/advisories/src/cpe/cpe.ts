// Parses CPE names: the formatted string of 2.3 (NISTIR 7695 §6.2) and the URI of 2.2 (§6.1), values unescaped.
import type { ProductKey } from '../advisory.ts';
import { readCpeUri } from './cpe-uri.ts';
import { ANY, type CpeValue, NA, plainText } from './cpe-value.ts';

export const CPE_ATTRIBUTES = [
  ...(['part', 'vendor', 'product', 'version', 'update', 'edition', 'language'] as const),
  ...(['swEdition', 'targetSw', 'targetHw', 'other'] as const),
] as const;
export type Cpe = { readonly [attribute in (typeof CPE_ATTRIBUTES)[number]]: CpeValue };

/** Longer than any name in NVD's dictionary. */
const MAX_NAME_LENGTH = 1024;
/** Printable ASCII without the space. */
const PRINTABLE = /^[!-~]+$/;
/** §5.3.2: characters that need no escape; a formatted string also leaves hyphen and full stop unescaped. */
const BARE = /^[a-z0-9_.-]$/i;
const PLAIN = /^[a-z0-9_.-]+$/i;
/** A complete value: wildcards, then plain or escaped characters, then wildcards. */
const VALUE = /^(\*|\?*)((?:[^\\*?]|\\.)+)(\*|\?*)$/;

/** A name of either form; undefined if it is invalid. */
export function parseCpe(name: string): Cpe | undefined {
  if (name.length > MAX_NAME_LENGTH || !PRINTABLE.test(name)) return undefined;
  const prefix = name.slice(0, 8).toLowerCase();
  if (prefix.startsWith('cpe:/')) return cpeOf(readCpeUri(name.slice(5)));
  if (prefix !== 'cpe:2.3:') return undefined;
  const fields = splitFields(name.slice(8));
  return fields.length === CPE_ATTRIBUTES.length ? cpeOf(fields.map(readValue)) : undefined;
}

function cpeOf(values: readonly (CpeValue | undefined)[] | undefined): Cpe | undefined {
  if (values === undefined || values.includes(undefined)) return undefined;
  const [part] = values;
  if (part?.kind === 'text' && !isPart(part)) return undefined;
  // Every attribute has a value: there are as many values as names.
  return Object.fromEntries(CPE_ATTRIBUTES.map((attribute, index) => [attribute, values[index]])) as Cpe;
}

function isPart({ text, before, after }: CpeValue & { kind: 'text' }): boolean {
  return before + after === '' && ['a', 'o', 'h'].includes(text);
}

/** Splits at unescaped colons; empty if a trailing escape has no character. */
function splitFields(text: string): string[] {
  const fields = text.match(/(?:^|:)(?:[^\\:]|\\.)*/g) ?? [];
  return fields.join('') === text ? fields.map((field) => (field.startsWith(':') ? field.slice(1) : field)) : [];
}

function readValue(field: string): CpeValue | undefined {
  if (field === '*') return ANY;
  if (field === '-') return NA;
  if (PLAIN.test(field)) return { kind: 'text', text: field.toLowerCase(), before: '', after: '' };
  const match = VALUE.exec(field);
  if (match === null) return undefined;
  const [, before = '', escaped = '', after = ''] = match;
  let text = '';
  for (let index = 0; index < escaped.length; index++) {
    const character = escaped.charAt(index);
    if (character === '\\') text += escaped.charAt(++index);
    else if (BARE.test(character)) text += character;
    else return undefined;
  }
  return { kind: 'text', text: text.toLowerCase(), before, after };
}

/** `cpe:vendor:product`; undefined unless both are plain text. */
export function productKeyOf({ vendor, product }: Cpe): ProductKey | undefined {
  const names = [vendor, product].map(plainText);
  return names.includes(undefined) ? undefined : ['cpe', ...names].join(':');
}
