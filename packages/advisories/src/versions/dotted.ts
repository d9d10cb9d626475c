// Versions without a declared scheme: numbers, and words with their usual meaning.
import { END, LETTER, NUMBER, numberKey, PRE_RELEASE, REVISION, UPDATE } from './key.ts';

/** Words before a release, in order. */
const PRE_RELEASES: ReadonlyMap<string, string> = new Map([
  ...rank('a', ['dev', 'snapshot', 'nightly', 'canary']),
  ...rank('b', ['alpha']),
  ...rank('c', ['beta']),
  ...rank('d', ['milestone']),
  ...rank('e', ['pre', 'preview', 'prerelease', 'ea']),
  ...rank('f', ['rc', 'cr', 'candidate']),
]);
/** Short forms, if a number follows directly: `1.0b2`; alone, `1.0b` comes after 1.0a. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
]);
/** Words after a release that a space may precede; other words after a space may be prose. */
const UPDATES: ReadonlySet<string> = new Set(['p', 'pl', 'patch', 'sp', 'update', 'u', 'hotfix', 'build', 'r', 'post']);
/** At the end these name an edition, not a later version. */
const EDITIONS: ReadonlySet<string> = new Set([
  ...['final', 'ga', 'release', 'stable', 'lts', 'community', 'enterprise', 'mariadb', 'log', 'fips'],
]);
const READABLE = /^v?\d[0-9a-z._~ -]*$/;
const TOKEN = /(\d+)|([a-z]+)|([^a-z0-9]+)/g;

interface Token {
  readonly text: string;
  readonly isNumber: boolean;
  readonly separator: string;
}

function rank(letter: string, words: readonly string[]): [string, string][] {
  return words.map((word) => [word, letter]);
}

/** The rank of a pre-release word; undefined for other words. */
export function preReleaseRank(word: string): string | undefined {
  return PRE_RELEASES.get(word);
}

/** The key of lower-case text; undefined if it is not a version. */
export function dottedKey(text: string): string | undefined {
  // The text after `+` distinguishes builds of one version.
  const [version = ''] = text.split('+', 1);
  if (!READABLE.test(version) || isHash(version)) return undefined;
  const tokens = tokensOf(version.startsWith('v') ? version.slice(1) : version);
  if (tokens.some(isProse)) return undefined;
  while (tokens.length > 1 && EDITIONS.has(tokens.at(-1)?.text ?? '')) tokens.pop();
  return keyOf(tokens);
}

function keyOf(tokens: readonly Token[]): string {
  // Joined at the end, so that a stored key is one flat string and not a tree of concatenations.
  const pieces: string[] = [];
  let zeros = '';
  for (const [index, token] of tokens.entries()) {
    if (!token.isNumber) {
      zeros = '';
      pieces.push(wordKey(token.text, tokens[index + 1]));
      continue;
    }
    const isRevision = token.separator === '-' && tokens[index - 1]?.isNumber === true;
    const number = numberKey(token.text);
    // Zeros count only if another number follows: 1.0-1 is 1.0.0-1.
    if (isRevision) zeros = '';
    if (number.length === 1) zeros += (isRevision ? REVISION : NUMBER) + number;
    else {
      pieces.push(zeros, isRevision ? REVISION : NUMBER, number);
      zeros = '';
    }
  }
  return [...pieces, END].join('');
}

function wordKey(word: string, next: Token | undefined): string {
  const isNumbered = next?.isNumber === true && next.separator === '';
  const rankOfWord = PRE_RELEASES.get(isNumbered ? (SHORT.get(word) ?? word) : word);
  if (rankOfWord !== undefined) return PRE_RELEASE + rankOfWord;
  return (word.length === 1 && !isNumbered ? LETTER : UPDATE) + word;
}

function tokensOf(version: string): Token[] {
  const tokens: Token[] = [];
  let separator = '';
  for (const [text, digits, word] of version.matchAll(TOKEN)) {
    if (digits === undefined && word === undefined) separator = text;
    else {
      tokens.push({ text, isNumber: digits !== undefined, separator });
      separator = '';
    }
  }
  return tokens;
}

/** `1.x` is many versions, `1.0 and earlier` a sentence. */
function isProse({ text, isNumber, separator }: Token): boolean {
  if (isNumber) return false;
  return text === 'x' || (separator.includes(' ') && !PRE_RELEASES.has(text) && !UPDATES.has(text));
}

/** A commit id, abbreviated or full. */
function isHash(text: string): boolean {
  return /^[0-9a-f]{7,}$/.test(text) && /[a-f]/.test(text);
}
