// Text of answers as Markdown without markup of its own.
import { SECTOR_NAMES } from '@strata/client';
import { CATEGORIES } from '@strata/detect';

/** Agents ask with the ids of sectors and categories; people read their names. */
const readable = (line: string): string => line.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (id) => NAMES.get(id) ?? id);

const NAMES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SECTOR_NAMES),
  ...CATEGORIES.map((id) => [id, id.replaceAll('_', ' ')] as const),
]);

/** A line of an answer, with names in place of ids. */
export const escapedLine = (line: string): string =>
  line.startsWith('- ') ? `- ${escaped(readable(line.slice(2)))}` : escaped(readable(line));

/** Text of third parties can contain no link and no markup. */
export const escaped = (text: string): string =>
  text
    .replaceAll(/[\\[\]`*]|<(?=[a-z/!?])/gi, '\\$&')
    // An invisible word joiner: readers of Markdown make links of bare addresses.
    .replaceAll('://', ':\u2060//')
    .replaceAll(/www\./gi, 'www\u2060.')
    .replaceAll('@', '\u2060@');
