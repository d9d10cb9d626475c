// Limits for untrusted Markdown: text that would block the page or overflow the stack is shown as plain text.
import type { Answer } from '../conversation/conversation.ts';

/** About 15,000 tokens. */
const MAX_CHARACTERS = 60_000;
/** Quotes and lists opened by one line; each level adds a few stack frames. */
const MAX_LEVELS = 24;
/** Emphasis marks in a paragraph; pairing them takes quadratic time. */
const MAX_MARKS = 1_500;
/** Lines, cells, links and emphasis marks in the complete text. */
const MAX_PARTS = 8_000;

/** Why a text is shown as plain text; null if it is rendered. */
export function plainReason(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return 'Shown as plain text: it is very long.';
  let marks = 0;
  let parts = 0;
  for (const line of text.split('\n')) {
    if (levelsOf(line) > MAX_LEVELS) return 'Shown as plain text: it is nested too deeply.';
    const pairs = line.match(/[*_~]/g)?.length ?? 0;
    marks = line.trim() === '' ? 0 : marks + pairs;
    parts += 1 + pairs + (line.match(/[|[\]]/g)?.length ?? 0);
    if (marks > MAX_MARKS || parts > MAX_PARTS) return 'Shown as plain text: its formatting is too complex.';
  }
  return null;
}

/** Nesting level, from the marks and the indentation of a line. */
function levelsOf(line: string): number {
  const opening = /^(?:\s|>|[-+*](?=\s)|\d{1,9}[.)](?=\s))*/.exec(line)?.[0] ?? '';
  const marks = opening.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0;
  const isIndentedList = /^\s*(?:[-+*]|\d{1,9}[.)])\s/.test(line);
  return marks + (isIndentedList ? Math.floor((/^\s*/.exec(opening)?.[0].length ?? 0) / 2) : 0);
}

/** The screen reader announcement of a finished answer: its beginning as plain text. */
export function announcementOf({ text, state }: Pick<Answer, 'text' | 'state'>): string {
  const outcome = { whole: 'Answer', stopped: 'Stopped answer', broken: 'Interrupted answer', running: 'Answer' }[
    state
  ];
  const plain = text
    .slice(0, 2 * ANNOUNCED_CHARACTERS)
    .replaceAll(/```[^\n]*/g, ' code: ')
    .replaceAll(/\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replaceAll(/[#>*_`|~]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (plain === '') return `${outcome} without text.`;
  const isLong = plain.length > ANNOUNCED_CHARACTERS;
  return `${outcome}: ${plain.slice(0, ANNOUNCED_CHARACTERS).toWellFormed()}${isLong ? ' … The full answer is in the conversation.' : ''}`;
}

/** About a minute of speech. */
const ANNOUNCED_CHARACTERS = 900;
