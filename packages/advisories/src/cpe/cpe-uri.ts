// The CPE 2.2 URI (NISTIR 7695 §6.1) after `cpe:/`: percent-encoded, with five attributes packed in the edition.
import { ANY, type CpeValue, NA } from './cpe-value.ts';

/** The eleven values in order; undefined if the text is not such a name. */
export function readCpeUri(text: string): readonly CpeValue[] | undefined {
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
