// One pattern of a community set: `expression\;confidence:50\;version:\1`, made ready for a linear-time engine.
import { RE2JS } from 're2js';
import { versionAfter } from '../../match/version.ts';
import { regexSize, regexSource } from './regex-source.ts';
import { parseRegex, type RegexNode, RegexRefusal } from './regex-syntax.ts';
import { requiredLiterals } from './required-literals.ts';

const MAX_PATTERN_LENGTH = 1000;
/** Longer than any version; a template may repeat what was captured. */
const MAX_CAPTURE_LENGTH = 128;
const TAG_MARK = '\\;';

/** A pattern's tags: how sure it is, and how a version is made of what it captures. */
export interface Tags {
  /** 0–100. */
  readonly confidence: number;
  /** `\1`, `\1.\2`, `\1?a:b`; undefined where no version is shown. */
  readonly version: string | undefined;
}

export interface FingerprintPattern extends Tags {
  /** The expression as the set has it, tags left out; '' means that the thing need only be there. */
  readonly expression: string;
  /** Null for the empty expression. */
  readonly regex: LinearRegex | null;
}

/** Splits tags from text, also of `implies`; unknown tags are passed over, as other readers of the format do. */
export function splitTags(text: string): Tags & { readonly text: string } {
  const [head = '', ...tags] = text.split(TAG_MARK);
  let confidence = 100;
  let version: string | undefined;
  for (const tag of tags) {
    const colon = tag.indexOf(':');
    const [name, value] = [tag.slice(0, colon), tag.slice(colon + 1)];
    if (name === 'confidence') confidence = confidenceOf(value);
    else if (name === 'version') version = value;
  }
  return { text: head, confidence, version };
}

function confidenceOf(value: string): number {
  if (!/^\d{1,3}$/.test(value) || Number(value) > 100) {
    throw new RegexRefusal(`the confidence '${value.slice(0, 20)}' is no number from 0 to 100`);
  }
  return Number(value);
}

/** Reads one pattern; throws RegexRefusal with the reason for which it is not taken. */
export function readPattern(text: string): FingerprintPattern {
  if (text.length > MAX_PATTERN_LENGTH) throw new RegexRefusal(`it is longer than ${MAX_PATTERN_LENGTH} characters`);
  if (text.includes('\0')) throw new RegexRefusal('it has a NUL');
  const { text: expression, confidence, version } = splitTags(text);
  return { expression, confidence, version, regex: expression === '' ? null : new LinearRegex(expression) };
}

/** A regular expression with JavaScript's meaning, any case, run in time linear in the text. */
export class LinearRegex {
  readonly #expression: string;
  #compiled: RE2JS | undefined;
  /** Steps a character in the worst case. */
  readonly size: number;
  /** Every text that it matches has one of these, in any case; null where nothing is known. */
  readonly literals: readonly string[] | null;
  /** Matches every text: what it is asked about need only be there. */
  readonly isAlwaysTrue: boolean;

  /** Throws RegexRefusal for what has no linear-time match, or is too large. */
  constructor(expression: string) {
    const node = parseRegex(expression);
    this.size = regexSize(node);
    this.#expression = expression;
    this.literals = requiredLiterals(node);
    this.isAlwaysTrue = isAlwaysTrue(node);
  }

  /** Compiled when it is first run: of thousands of patterns few ever are. */
  get #engine(): RE2JS {
    this.#compiled ??= RE2JS.compile(regexSource(parseRegex(this.#expression)));
    return this.#compiled;
  }

  /** Drops the engine, and with it all that it has learnt of texts; it is made anew when needed. */
  forget(): void {
    this.#compiled = undefined;
  }

  test(text: string): boolean {
    return this.#engine.test(text);
  }

  /** What the groups of the first match hold, '' for one that took no part; null without a match. */
  captures(text: string): readonly string[] | null {
    const matcher = this.#engine.matcher(text);
    if (!matcher.find()) return null;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? '');
  }
}

/** Whether the empty text at the start of any text is a match: `.*`, `(?:a|)`, `^`. */
function isAlwaysTrue(node: RegexNode): boolean {
  switch (node.kind) {
    case 'characters':
      return false;
    case 'assertion':
      return node.assertion === 'start';
    case 'sequence':
      return node.items.every(isAlwaysTrue);
    case 'choice':
      return node.items.some(isAlwaysTrue);
    case 'group':
      return isAlwaysTrue(node.item);
    case 'repeat':
      return node.min === 0 || isAlwaysTrue(node.item);
    default:
      return node satisfies never;
  }
}

/**
 * The version that a template makes of captures, read as our own rules read one; null for none. A single number is none:
 * of `10` nobody can tell whether it is a branch, and no set says it.
 */
export function versionShown(template: string, captures: readonly string[]): string | null {
  const bounded = captures.map((capture) => capture.slice(0, MAX_CAPTURE_LENGTH));
  const version = versionAfter('', fillTemplate(template, bounded));
  return version?.includes('.') ? version : null;
}

/** `\1?a:b` is `a` where group 1 took part with some text, and else `b`. */
function fillTemplate(template: string, captures: readonly string[]): string {
  const fill = (part: string) => part.replace(/\\(\d)/g, (_, group: string) => captures[Number(group)] ?? '');
  const ternary = /^\\(\d)\?([^:]*):(.*)$/s.exec(template);
  if (!ternary) return fill(template);
  const [, group = '', then = '', otherwise = ''] = ternary;
  return fill(captures[Number(group)] ? then : otherwise);
}
