// One pattern of a community set, `expression\;confidence:50\;version:\1`, compiled for a linear-time engine.
import { RE2JS } from 're2js';
import { versionAfter } from '../../match/version.ts';
import { regexSize, regexSource } from './regex-source.ts';
import { parseRegex, type RegexNode, RegexRefusal } from './regex-syntax.ts';
import { requiredLiterals } from './required-literals.ts';

const MAX_PATTERN_LENGTH = 1000;
/** Longer than any version; a template may repeat a capture. */
const MAX_CAPTURE_LENGTH = 128;
const TAG_MARK = '\\;';

/** A pattern's tags: its confidence, and the template of its version. */
export interface Tags {
  /** 0–100. */
  readonly confidence: number;
  /** `\1`, `\1.\2`, `\1?a:b`; undefined if the pattern has no version. */
  readonly version: string | undefined;
}

export interface FingerprintPattern extends Tags {
  /** The expression without tags; '' matches any value. */
  readonly expression: string;
  /** Null for the empty expression. */
  readonly regex: LinearRegex | null;
}

/** Splits tags from text, also for `implies`. Unknown tags are ignored, as in other readers of the format. */
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
    throw new RegexRefusal(`the confidence '${value.slice(0, 20)}' is not a number from 0 to 100`);
  }
  return Number(value);
}

/** Parses one pattern; throws RegexRefusal with the reason of a refusal. */
export function readPattern(text: string): FingerprintPattern {
  if (text.length > MAX_PATTERN_LENGTH) throw new RegexRefusal(`it is longer than ${MAX_PATTERN_LENGTH} characters`);
  if (text.includes('\0')) throw new RegexRefusal('it has a NUL');
  const { text: expression, confidence, version } = splitTags(text);
  return { expression, confidence, version, regex: expression === '' ? null : new LinearRegex(expression) };
}

/** A regular expression with JavaScript's semantics, case-insensitive, run in time linear in the text. */
export class LinearRegex {
  readonly #expression: string;
  #compiled: RE2JS | undefined;
  /** Worst-case steps per character. */
  readonly size: number;
  /** Every match contains one of these, in any case; null if unknown. */
  readonly literals: readonly string[] | null;
  /** Matches every text, so the value need only exist. */
  readonly isAlwaysTrue: boolean;

  /** Throws RegexRefusal for an expression without a linear-time match, or one that is too large. */
  constructor(expression: string) {
    const node = parseRegex(expression);
    this.size = regexSize(node);
    this.#expression = expression;
    this.literals = requiredLiterals(node);
    this.isAlwaysTrue = isAlwaysTrue(node);
  }

  /** Compiled on first use: of thousands of patterns few are ever run. */
  get #engine(): RE2JS {
    this.#compiled ??= RE2JS.compile(regexSource(parseRegex(this.#expression)));
    return this.#compiled;
  }

  /** Drops the engine with its cached states; the next use compiles it again. */
  forget(): void {
    this.#compiled = undefined;
  }

  test(text: string): boolean {
    return this.#engine.test(text);
  }

  /** The groups of the first match, '' for a group that did not participate; null without a match. */
  captures(text: string): readonly string[] | null {
    const matcher = this.#engine.matcher(text);
    if (!matcher.find()) return null;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? '');
  }
}

/** Whether the expression matches the empty text at the start of any text: `.*`, `(?:a|)`, `^`. */
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
 * The version that a template makes of captures, parsed as for our own rules; null if it is not a version. A single number
 * such as `10` is not: it may be a branch, and sets do not distinguish the two.
 */
export function versionShown(template: string, captures: readonly string[]): string | null {
  const bounded = captures.map((capture) => capture.slice(0, MAX_CAPTURE_LENGTH));
  const version = versionAfter('', fillTemplate(template, bounded));
  return version?.includes('.') ? version : null;
}

/** `\1?a:b` is `a` if group 1 matched some text, otherwise `b`. */
function fillTemplate(template: string, captures: readonly string[]): string {
  const fill = (part: string) => part.replace(/\\(\d)/g, (_, group: string) => captures[Number(group)] ?? '');
  const ternary = /^\\(\d)\?([^:]*):(.*)$/s.exec(template);
  if (!ternary) return fill(template);
  const [, group = '', then = '', otherwise = ''] = ternary;
  return fill(captures[Number(group)] ? then : otherwise);
}
