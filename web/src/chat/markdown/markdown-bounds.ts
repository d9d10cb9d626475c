// How much Markdown of a stranger is laid out: what would hold up the page, or overflow the stack, is shown as it was sent.
import type { Answer } from '../conversation/conversation.ts';

/** Some fifteen thousand tokens. */
const MAX_CHARACTERS = 60_000;
/** Quotes and lists that a line opens; each level is a few calls deeper. */
const MAX_LEVELS = 24;
/** Stars and underscores of a paragraph: pairing them takes time that grows with their square. */
const MAX_MARKS = 1_500;
/** Lines, cells, links, words in bold, of the whole text. */
const MAX_PARTS = 8_000;

/** Why a text is shown as it was sent, in words; null where it is laid out. */
export function plainReason(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return 'Shown as it was sent: it is very long.';
  let marks = 0;
  let parts = 0;
  for (const line of text.split('\n')) {
    if (levelsOf(line) > MAX_LEVELS) return 'Shown as it was sent: it is nested too deeply.';
    const pairs = line.match(/[*_~]/g)?.length ?? 0;
    marks = line.trim() === '' ? 0 : marks + pairs;
    parts += 1 + pairs + (line.match(/[|[\]]/g)?.length ?? 0);
    if (marks > MAX_MARKS || parts > MAX_PARTS) return 'Shown as it was sent: it has too many parts.';
  }
  return null;
}

/** By its marks and by how far it is moved in. */
function levelsOf(line: string): number {
  const opening = /^(?:\s|>|[-+*](?=\s)|\d{1,9}[.)](?=\s))*/.exec(line)?.[0] ?? '';
  const marks = opening.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0;
  const isMovedIn = /^\s*(?:[-+*]|\d{1,9}[.)])\s/.test(line);
  return marks + (isMovedIn ? Math.floor((/^\s*/.exec(opening)?.[0].length ?? 0) / 2) : 0);
}

/** What a screen reader says of an answer that is over: its beginning, in plain words. */
export function announcementOf({ text, state }: Pick<Answer, 'text' | 'state'>): string {
  const outcome = { whole: 'Answer', stopped: 'Stopped answer', broken: 'Broken answer', running: 'Answer' }[state];
  const words = text
    .slice(0, 2 * ANNOUNCED_CHARACTERS)
    .replaceAll(/```[^\n]*/g, ' code: ')
    .replaceAll(/\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replaceAll(/[#>*_`|~]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (words === '') return `${outcome} without words.`;
  const isLong = words.length > ANNOUNCED_CHARACTERS;
  return `${outcome}: ${words.slice(0, ANNOUNCED_CHARACTERS).toWellFormed()}${isLong ? ' … The whole stands in the conversation.' : ''}`;
}

/** About a minute of speech. */
const ANNOUNCED_CHARACTERS = 900;
