// Literals that every match contains: a page without any of them need not be searched with the pattern. After Russ Cox,
// "Regular Expression Matching with a Trigram Index" (2012), with complete literals instead of trigrams.
import type { RegexNode } from './regex-syntax.ts';

/** More or longer alternatives add little precision and cost memory. */
const MAX_ALTERNATIVES = 16;
const MAX_LENGTH = 64;
/** Shorter literals occur in every page. */
const MIN_LENGTH = 3;
/** A class with more members counts as any character. */
const MAX_MEMBERS = 4;
/** Text that every page and most addresses contain: only the remainder of a literal is significant. */
const COMMONPLACE =
  /https?|:\/\/|www\.|\.com|\.min|\.js|\.css|<(?:script|link|meta|div|img|a|iframe)|src=|href=|content=|class=/g;

interface Literals {
  /** All texts that the node can match, if they are few. */
  readonly exact: readonly string[] | null;
  /** Every match contains one of these, if known. */
  readonly required: readonly string[] | null;
}

const UNKNOWN: Literals = { exact: null, required: null };
const NOTHING: Literals = { exact: [''], required: null };

/**
 * Lower-case ASCII literals of which every match of the pattern, in any case, contains at least one; null if no literals
 * would save work.
 */
export function requiredLiterals(node: RegexNode): readonly string[] | null {
  const best = bestOf(literalsOf(node));
  if (best === null || weightOf(best) === 0) return null;
  // If `bar` is required, `barfoo` adds nothing.
  return best.filter((text) => !best.some((other) => other !== text && text.includes(other)));
}

function literalsOf(node: RegexNode): Literals {
  switch (node.kind) {
    case 'characters':
      return charactersOf(node);
    case 'assertion':
      return NOTHING;
    case 'sequence':
      return sequenceOf(node.items.map(literalsOf));
    case 'choice':
      return choiceOf(node.items.map(literalsOf));
    case 'group':
      return literalsOf(node.item);
    case 'repeat':
      return repeatOf(node);
    default:
      return node satisfies never;
  }
}

function charactersOf({ ranges, isNegated }: Extract<RegexNode, { kind: 'characters' }>): Literals {
  if (isNegated) return UNKNOWN;
  const members = new Set<string>();
  for (const [low, high] of ranges) {
    // Outside ASCII, case folding differs from that of the literal search.
    if (high > 0x7f || high - low > 26) return UNKNOWN;
    for (let code = low; code <= high; code++) members.add(String.fromCharCode(code).toLowerCase());
    if (members.size > MAX_MEMBERS) return UNKNOWN;
  }
  return members.size === 0 ? UNKNOWN : { exact: [...members], required: null };
}

function sequenceOf(items: readonly Literals[]): Literals {
  let run: readonly string[] = [''];
  let best: readonly string[] | null = null;
  let isExact = true;
  for (const item of items) {
    const longer = item.exact && product(run, item.exact);
    if (longer) {
      run = longer;
      continue;
    }
    isExact = false;
    best = better(best, run);
    if (item.exact === null) best = better(best, item.required);
    run = item.exact ?? [''];
  }
  return isExact ? { exact: run, required: null } : { exact: null, required: better(best, run) };
}

function choiceOf(items: readonly Literals[]): Literals {
  const exact = new Set<string>();
  const required = new Set<string>();
  let isExact = true;
  for (const item of items) {
    if (item.exact) for (const text of item.exact) exact.add(text);
    else isExact = false;
    const best = bestOf(item);
    if (best === null) return UNKNOWN;
    for (const text of best) required.add(text);
  }
  if (isExact && exact.size <= MAX_ALTERNATIVES) return { exact: [...exact], required: null };
  return { exact: null, required: required.size <= MAX_ALTERNATIVES * 4 ? [...required] : null };
}

function repeatOf({ item, min, max }: Extract<RegexNode, { kind: 'repeat' }>): Literals {
  const literals = literalsOf(item);
  if (max === 0) return NOTHING;
  if (min === 0) {
    const isOptional = max === 1 && literals.exact !== null && literals.exact.length < MAX_ALTERNATIVES;
    return isOptional ? { exact: [...new Set([...(literals.exact ?? []), ''])], required: null } : UNKNOWN;
  }
  let exact: readonly string[] | null = literals.exact;
  for (let count = 1; count < min && exact && literals.exact; count++) exact = product(exact, literals.exact);
  if (exact && min === max) return { exact, required: null };
  return { exact: null, required: exact ?? bestOf(literals) };
}

/** Every text of `a` followed by every text of `b`; null if they become too many or too long. */
function product(a: readonly string[], b: readonly string[]): readonly string[] | null {
  if (a.length * b.length > MAX_ALTERNATIVES) return null;
  const texts = new Set<string>();
  for (const start of a) {
    for (const end of b) {
      if (start.length + end.length > MAX_LENGTH) return null;
      texts.add(start + end);
    }
  }
  return [...texts];
}

function bestOf({ exact, required }: Literals): readonly string[] | null {
  return exact ?? required;
}

function better(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  const [of, over] = [weightOf(a), weightOf(b)];
  return over > of || (over === of && b.length < a.length) ? b : a;
}

/** The weight of the least specific text, which decides how many pages contain one of them. */
function weightOf(texts: readonly string[]): number {
  let min = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    // A common text is better than none, but weighs less than a specific word.
    const own = Math.max(text.replace(COMMONPLACE, '').length, MIN_LENGTH);
    min = Math.min(min, text.length < MIN_LENGTH ? 0 : own);
  }
  return texts.length === 0 ? 0 : min;
}
