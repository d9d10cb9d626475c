// Parses versions that publishers write as text, `< 1.2.3` or `5.8.x`, only if the meaning is unambiguous.
import type { VersionBound, VersionRange } from '../advisory.ts';
import { type BoundOrder, compareBounds } from './order.ts';

export interface VersionText {
  readonly ranges: readonly VersionRange[];
  readonly versions: readonly string[];
}

const MAX_TEXT = 200;
const PLAIN = /^v?(\d(?:[\w.+~:-]*\w)?)$/i;
/** `1.0-1.5`: a range without spaces or a version with a revision, which is ambiguous. */
const DOUBTFUL = /^v?\d+(?:\.\d+)+-\d+(?:\.\d+)+$/i;
const SERIES = /^v?(\d+(?:\.\d+)*)(?:\.[x*])+$/i;
const NOWHERE = /^(?:0|n\/a|unspecified)$/i;

const forms: readonly (readonly [RegExp, (...words: string[]) => VersionRange | undefined])[] = [
  [/^(?:before|prior to|earlier than|below) (\S+)$/i, (to) => between('0', to, false)],
  [/^up to (?:and |\()?including\)? (\S+)$/i, (to) => between('0', to, true)],
  [/^(\S+) (?:-|–|—|through|thru|to) (\S+)$/i, (from, to) => between(from, to, true)],
  [/^(\S+) (?:before|up to but not including|until but not including) (\S+)$/i, (from, to) => between(from, to, false)],
  [/^(\S+) (?:and|or) (?:earlier|prior|below|older|lower|previous)$/i, (to) => between('0', to, true)],
  [/^(\S+) (?:and|or) (?:later|above|newer|higher)$/i, (from) => openFrom(from)],
];

/** The parsed text; undefined if it is ambiguous or cannot be compared. */
export function readVersionText(text: string): VersionText | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const words = text.trim().replace(/\s+/g, ' ');
  if (/^(?:\*|all|all versions)$/i.test(words)) return { ranges: [{}], versions: [] };
  const clean = words
    .replace(/^versions? /i, '')
    .replace(/ versions?$/i, '')
    .replace(/^from /i, '');
  return one(clean) ?? listed(clean) ?? compared(clean);
}

/** A plain version, without a leading `v`; undefined for other text. */
export function plainVersion(text: string): string | undefined {
  if (text.length > MAX_TEXT || SERIES.test(text) || DOUBTFUL.test(text)) return undefined;
  return PLAIN.exec(text)?.[1];
}

/** `5.8.x`, `2.*`: from its first version to before the next series. */
export function seriesOf(text: string): { readonly from: VersionBound; readonly to: VersionBound } | undefined {
  const numbers = text.length > MAX_TEXT ? undefined : SERIES.exec(text)?.[1]?.split('.');
  if (numbers === undefined) return undefined;
  const next = [...numbers.slice(0, -1), String(BigInt(numbers.at(-1) ?? '0') + 1n)];
  return {
    from: { version: numbers.join('.'), isInclusive: true },
    to: { version: next.join('.'), isInclusive: false },
  };
}

function one(text: string): VersionText | undefined {
  const version = plainVersion(text);
  if (version !== undefined) return { ranges: [], versions: [version] };
  const series = seriesOf(text);
  if (series !== undefined) return { ranges: [series], versions: [] };
  for (const [form, rangeOf] of forms) {
    const match = form.exec(text);
    if (match === null) continue;
    const range = rangeOf(...match.slice(1));
    return range && { ranges: [range], versions: [] };
  }
  return undefined;
}

/** `1.0, 1.1, 1.2`. */
function listed(text: string): VersionText | undefined {
  const parts = text.split(',').map((part) => plainVersion(part.trim()));
  return parts.every((part) => part !== undefined) ? { ranges: [], versions: parts } : undefined;
}

/** `>= 1.0, < 1.2.3`: at most one bound on each side. */
function compared(text: string): VersionText | undefined {
  const parts = text.split(/, ?| (?=[<>=])/).map((part) => /^(<=|>=|<|>|=) ?(\S+)$/.exec(part.trim()));
  let range: VersionRange = {};
  for (const part of parts) {
    const version = plainVersion(part?.[2] ?? '');
    if (part === null || version === undefined) return undefined;
    const operator = part[1] ?? '';
    if (operator === '=') return parts.length === 1 ? { ranges: [], versions: [version] } : undefined;
    const side = operator.startsWith('<') ? 'to' : 'from';
    if (range[side] !== undefined) return undefined;
    range = { ...range, [side]: { version, isInclusive: operator.endsWith('=') } };
  }
  return isEmpty(range) ? undefined : { ranges: [range], versions: [] };
}

function between(from: string | undefined, to: string | undefined, isInclusive: boolean): VersionRange | undefined {
  const version = plainVersion(to ?? '');
  const start = openFrom(from);
  if (version === undefined || start === undefined) return undefined;
  const range = { ...start, to: { version, isInclusive } };
  return isEmpty(range) ? undefined : range;
}

function openFrom(from: string | undefined): VersionRange | undefined {
  if (from === undefined || NOWHERE.test(from)) return {};
  const version = plainVersion(from);
  return version === undefined ? undefined : { from: { version, isInclusive: true } };
}

/** A range without versions is a mistake of the publisher. */
export function isEmpty({ from, to }: VersionRange, order: BoundOrder = compareBounds): boolean {
  if (from === undefined || to === undefined) return false;
  const stands = order(from.version, to.version);
  return stands > 0 || (stands === 0 && !(from.isInclusive && to.isInclusive));
}
