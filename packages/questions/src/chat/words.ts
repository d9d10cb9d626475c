// Splits a sentence into words.
import { plainText } from '../plain-text.ts';

export interface Word {
  /** As it is written, without the marks that end a sentence. */
  readonly raw: string;
  readonly lower: string;
  readonly isAfterComma: boolean;
  /** `.de` */
  readonly isAfterDot: boolean;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}.&+'’_-]*/gu;

/** In the order of the sentence. The path of a URL is not a word. */
export function splitWords(text: string): readonly Word[] {
  const plain = plainText(text);
  let end = 0;
  return [...plain.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const between = plain.slice(end, index);
    end = index + word.length;
    if (plain[index - 1] === '/' && plain[index - 2] !== '/') return [];
    const raw = /^[a-d]\+$/i.test(word) ? word : withoutEnd(word);
    const lower = raw.toLowerCase().replaceAll('’', "'");
    return [{ raw, lower, isAfterComma: /[,;]/.test(between), isAfterDot: /(?:^|\s)\.$/.test(between) }];
  });
}

/** Two or more labels, the last of which has letters (or is an A-label). */
export function domainIn(word: string): string | undefined {
  const host = withoutPossessive(word);
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  const isName =
    labels.length > 1 && labels.every((label) => label !== '' && !label.startsWith('-') && !label.includes("'"));
  return isName && last.length > 1 && /^\p{L}/u.test(last) && host.length <= 253 ? host : undefined;
}

export const withoutPossessive = (name: string): string => (/['’]s$/.test(name) ? name.slice(0, -2) : name);

/** Without the marks that end a sentence. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && ".&+'’_-".includes(word[end - 1] ?? '')) end -= 1;
  return word.slice(0, end);
}
