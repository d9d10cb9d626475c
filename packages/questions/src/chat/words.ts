// Splits a sentence into words.
import { KINDS } from '@strata/detect';
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

const VERSION = /^\d+(?:\.\d+)*$/;
const VERSION_ORDERS: Readonly<Record<string, string>> = {
  ...{ older: '<', earlier: '<', lower: '<', below: '<', before: '<', under: '<' },
  ...{ newer: '>', later: '>', higher: '>', above: '>', after: '>' },
};

/** After a name: `older than 1.26`, `below version 3`, `1.18`, `version 7` */
export function versionAt(words: readonly string[], at: number) {
  let end = at;
  let order = '=';
  for (; !VERSION.test(words[end] ?? ''); end += 1) {
    const word = words[end] ?? '';
    if (Object.hasOwn(VERSION_ORDERS, word)) order = VERSION_ORDERS[word] ?? order;
    else if (!['version', 'versions', 'than'].includes(word)) return undefined;
  }
  const version = words[end] ?? '';
  // `nginx 3` is a name.
  return end === at && !version.includes('.') ? undefined : { version: `${order}${version}`, length: end + 1 - at };
}

/** `tag manager`, `CMS`: a kind of provider. */
export function kindOfName(name: string): string | undefined {
  const slug = name.toLowerCase().replaceAll(' ', '-');
  return KINDS.find((kind) => kind === slug);
}
