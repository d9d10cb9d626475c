// Parses CPE names: the formatted string of 2.3 (NISTIR 7695 §6.2) and the URI of 2.2 (§6.1), values unescaped.
import type { ProductKey } from '../advisory.ts';
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

/** The eleven values in order; undefined if the text is not such a name. */
function readCpeUri(text: string): readonly CpeValue[] | undefined {
  const fields = text.split(':');
  if (fields.length > 7) return undefined;
  const [part = '', vendor = '', product = '', version = '', update = '', packed = '', language = ''] = fields;
  const [edition = '', swEdition = '', targetSw = '', targetHw = '', other = ''] = unpack(packed) ?? [];
  if (packed.startsWith('~') && unpack(packed) === undefined) return undefined;
  const values = [part, vendor, product, version, update, edition, language, swEdition, targetSw, targetHw, other];
  const read = values.map(readUriValue);
  return read.every((value) => value !== undefined) ? read : undefined;
}

/** §6.1.2.1: `~edition~sw_edition~target_sw~target_hw~other`, or the edition alone. */
function unpack(packed: string): readonly string[] | undefined {
  if (!packed.startsWith('~')) return [packed];
  const parts = packed.slice(1).split('~');
  return parts.length === 5 ? parts : undefined;
}

/** §6.1.2.2: empty means any; `%01` is the wildcard `?`, `%02` is `*`. */
function readUriValue(field: string): CpeValue | undefined {
  if (field === '') return ANY;
  if (field === '-') return NA;
  const match = /^(%02|(?:%01)*)((?:[^%]|%[2-7][0-9a-f])+)(%02|(?:%01)*)$/i.exec(field);
  if (match === null) return undefined;
  const [, before = '', encoded = '', after = ''] = match;
  const text = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { kind: 'text', text: text.toLowerCase(), before: wildcardsOf(before), after: wildcardsOf(after) };
}

function wildcardsOf(encoded: string): string {
  return encoded.replaceAll('%01', '?').replaceAll('%02', '*');
}
