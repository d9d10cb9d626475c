// The conditions of a sentence that asks for a set of domains: `Which domains in Germany use Cloudflare, but not Google Workspace?` Pure, and
// linear in its length.
import type { Category } from '@strata/detect';
import {
  BREAKS,
  CATEGORY_LINKS,
  categoryTerm,
  NEGATIONS,
  SET_NOUNS,
  type Term,
  termAt,
  tldTerm,
  UNREAD_WORDS,
  USE_VERBS,
} from './condition-words.ts';
import { MAX_QUESTION } from './intent.ts';
import { timeIn } from './times.ts';
import { categoryAt, isOtherWord, topicOf } from './topics.ts';
import { domainIn, splitWords, type Word, withoutPossessive } from './words.ts';

/** A name to look up, as any service or as the provider of a category. */
export interface Reading {
  readonly name: string;
  readonly category?: Category | undefined;
}

export interface Condition {
  /** A term of the query language, or readings of a name, the first of which that is a provider's counts. */
  readonly is:
    | { readonly kind: 'term'; readonly term: Term }
    | { readonly kind: 'name'; readonly readings: readonly Reading[] };
  readonly isNegated: boolean;
  /** OR joins it with the condition before it. */
  readonly isAlternative: boolean;
}

export interface Conditions {
  readonly all: readonly Condition[];
  /** Words that limit the set in a way that cannot be read. */
  readonly unread: readonly string[];
  /** `Which email providers …`: the market of the set is asked for. */
  readonly market: Category | undefined;
  /** The sentence asks for domains, and more than who uses one provider. */
  readonly isSet: boolean;
}

const MAX_NAME_WORDS = 6;
/** Each name is looked up. */
const MAX_CONDITIONS = 8;
/** A domain has one of each: `in Germany and France` is either. */
const ONE_OF = /^(?:country|tld|sector|grade|state):/;

/** `earlier`: the question before it, whose conditions `Which of them have DNSSEC?` adds to. */
export function conditionsOf(text: string, earlier?: string): Conditions {
  const every = text.length > MAX_QUESTION ? [] : splitWords(text);
  const { time, rest: words } = timeIn(every);
  const reader = new ConditionReader(words);
  while (reader.next());
  const lower = words.map(({ lower: word }) => word);
  const refers = earlier !== undefined && lower.some((word) => ['them', 'those', 'these'].includes(word));
  const before = refers ? conditionsOf(earlier) : undefined;
  const read = [...(before?.all ?? []), ...reader.conditions];
  const all = read.slice(0, MAX_CONDITIONS);
  // Only changes have a time, whose answer reads it from the intent.
  const unread = [
    ...(before?.unread ?? []),
    ...reader.unread,
    ...(time && words.length < every.length ? [time.text] : []),
  ];
  if (read.length > all.length) unread.push(`more than ${MAX_CONDITIONS} conditions`);
  const asksForDomains =
    refers ||
    lower.some((word) => SET_NOUNS.has(word)) ||
    (lower.includes('who') && lower.some((word) => USE_VERBS.has(word)));
  const isCounted = lower.includes('many') || lower.includes('number');
  const [first] = all;
  const domains = all.filter(
    ({ is }) => is.kind === 'name' && is.readings.some(({ name }) => domainIn(name) !== undefined),
  );
  // `How many domains publish DMARC?` asks for the spread of a standard.
  const isMore =
    all.length > 1 ||
    (first !== undefined && (first.isNegated || isSpecific(first) || (isOfPosture(first) && !isCounted)));
  // `Does example.com use Cloudflare and have DNSSEC?`
  const isOfDomain = domains.length === 1 && all.length > 2;
  return {
    ...{ all, unread, market: reader.market },
    isSet: (asksForDomains && isMore) || isOfDomain,
  };
}

/** More than a provider or a standard of the posture. */
const isSpecific = ({ is }: Condition): boolean =>
  is.kind === 'term' ? !isPostureTerm(is.term) : is.readings.length === 1 && is.readings[0]?.category !== undefined;
const isOfPosture = ({ is }: Condition): boolean => is.kind === 'term' && isPostureTerm(is.term);
const isPostureTerm = ({ yes }: Term): boolean => /^(?:dmarc|spf|dnssec|caa|bimi|mta_sts|tls_rpt):/.test(yes);

class ConditionReader {
  readonly conditions: Condition[] = [];
  readonly unread: string[] = [];
  market: Category | undefined;
  readonly #words: readonly Word[];
  readonly #lower: readonly string[];
  readonly #raw: readonly string[];
  #at = 0;
  #name: string[] = [];
  /** What joins the next condition: `or` wins over a comma. */
  #joint: 'and' | 'or' | 'comma' | undefined;
  #unreadEnd = -1;
  #isNegated = false;
  #negatesAny = false;
  /** After the last condition, and the category that it names. */
  #lastEnd = -1;
  #lastCategory: Category | undefined;

  constructor(words: readonly Word[]) {
    this.#words = words;
    this.#lower = words.map(({ lower }) => lower);
    this.#raw = words.map(({ raw }) => raw);
  }

  /** Reads a word, or several that belong together; false at the end. */
  next(): boolean {
    const word = this.#words[this.#at];
    if (!word) return this.#endName();
    if (word.isAfterComma) {
      this.#endName();
      this.#joint ??= 'comma';
    }
    this.#at += this.#readTerm(word) || this.#readCategory() || this.#readWord(word);
    return true;
  }

  /** Returns the number of words, 0 if they are no condition. */
  #readTerm({ lower, isAfterDot }: Word): number {
    if (isAfterDot && /^[a-z]{2,63}$/.test(lower)) return this.#push(tldTerm(lower), 1);
    // A sector's word within a name: `Acme Health`.
    const found = this.#name.length > 0 && !isEnd(lower) ? undefined : termAt(this.#lower, this.#raw, this.#at);
    return found ? this.#push(found.term, found.length) : 0;
  }

  #readCategory(): number {
    const found = categoryAt(this.#lower, this.#at);
    if (!found) return 0;
    const { category, length } = found;
    const end = this.#at + length;
    if (this.#name.length > 0) {
      // Also part of a name: `Google Cloud DNS`.
      const name = this.#name.join(' ');
      const full = [name, ...this.#raw.slice(this.#at, end)].join(' ');
      this.#pushName([{ name: full }, { name, category }], end);
      return length;
    }
    const last = this.conditions.at(-1);
    if (last?.is.kind === 'name' && this.#isLinked(this.#lastEnd)) {
      this.#setCategory(category);
      this.#lastEnd = end;
    } else if (['which', 'what'].includes(this.#lower[this.#at - 1] ?? '')) this.market = category;
    else {
      this.#push(categoryTerm(category), length);
      this.#lastCategory = category;
    }
    return length;
  }

  /** Of the last name, and of those that an OR joins with it: `A or B for email`. */
  #setCategory(category: Category): void {
    for (let at = this.conditions.length - 1; at >= 0; at -= 1) {
      const condition = this.conditions[at];
      if (condition?.is.kind !== 'name') return;
      const readings = condition.is.readings.map(({ name, category: own }) => ({ name, category: own ?? category }));
      this.conditions[at] = { ...condition, is: { kind: 'name', readings } };
      if (!condition.isAlternative) return;
    }
  }

  #readWord({ lower, raw }: Word): number {
    if (domainIn(lower) !== undefined) {
      this.#endName();
      this.#name = [domainIn(lower) ?? ''];
      this.#endName(1);
      return 1;
    }
    const isCount =
      /^\d+$/.test(lower) && ['list', 'show', 'top', 'first', 'find'].includes(this.#lower[this.#at - 1] ?? '');
    if (!isEnd(lower) && !isCount) {
      this.#name.push(raw);
      return 1;
    }
    this.#endName();
    if (lower === 'or' || lower === 'nor') this.#joint = 'or';
    if ((lower === 'and' || lower === '&') && this.#joint !== 'or') this.#joint = 'and';
    if (UNREAD_WORDS.has(lower)) this.#addUnread(raw);
    if (NEGATIONS.has(lower)) {
      this.#isNegated = true;
      this.#negatesAny = false;
    } else if (BREAKS.has(lower)) {
      // `do not use`: the verb belongs to the NOT before it.
      if (this.#negatesAny) this.#isNegated = false;
      if (this.#joint === 'comma') this.#joint = undefined;
    }
    return 1;
  }

  /** Words in succession are one text. */
  #addUnread(word: string): void {
    const before = this.#unreadEnd === this.#at ? this.unread.pop() : undefined;
    this.unread.push(before === undefined ? word : `${before} ${word}`);
    this.#unreadEnd = this.#at + 1;
  }

  /** Ends a name, of one or more words; `length`: how many of them come after the current position. */
  #endName(length = 0): false {
    const name = withoutPossessive(this.#name.join(' '));
    if (this.#name.length > MAX_NAME_WORDS) this.unread.push(name);
    else if (name !== '') {
      const start = this.#at + length - this.#name.length;
      const category = this.#lastCategory;
      if (category !== undefined && this.#isLinked(this.#lastEnd, start)) {
        const [before] = this.conditions.splice(-1);
        this.#pushName([{ name, category }], this.#at + length, before);
      } else this.#pushName([{ name }], this.#at + length);
    }
    this.#name = [];
    return false;
  }

  /** Whether only words such as `at` and `for` are between. */
  #isLinked(from: number, to: number = this.#at): boolean {
    return from >= 0 && this.#lower.slice(from, to).every((word) => CATEGORY_LINKS.has(word));
  }

  #push(term: Term, length: number): number {
    this.#endName();
    this.#add({ kind: 'term', term });
    this.#lastEnd = this.#at + length;
    return length;
  }

  #pushName(readings: readonly Reading[], end: number, instead?: Condition): void {
    this.#name = [];
    if (instead) {
      this.conditions.push({ ...instead, is: { kind: 'name', readings } });
      this.#lastCategory = undefined;
    } else this.#add({ kind: 'name', readings });
    this.#lastEnd = end;
  }

  #add(is: Condition['is']): void {
    const before = this.conditions.at(-1);
    const field = exclusiveFieldOf(is);
    const isOneOf = field !== undefined && exclusiveFieldOf(before?.is) === field;
    const isAlternative = before !== undefined && !this.#isNegated && (this.#joint === 'or' || isOneOf);
    // `A, B or C`: the commas before an OR are the same.
    if (isAlternative && this.#joint === 'or') this.#joinList();
    this.conditions.push({ is, isNegated: this.#isNegated, isAlternative });
    this.#commas = this.#joint === 'comma' ? this.#commas + 1 : 0;
    this.#negatesAny = this.#isNegated;
    this.#joint = undefined;
    this.#lastCategory = undefined;
  }

  /** Conditions at the end that only commas join. */
  #commas = 0;

  #joinList(): void {
    const first = this.conditions.length - this.#commas;
    for (let at = Math.max(1, first); at < this.conditions.length; at += 1) {
      const condition = this.conditions[at];
      if (condition && !condition.isNegated) this.conditions[at] = { ...condition, isAlternative: true };
    }
  }
}

const exclusiveFieldOf = (is: Condition['is'] | undefined): string | undefined =>
  is?.kind === 'term' ? ONE_OF.exec(is.term.yes)?.[0] : undefined;

/** Ends a name. */
const isEnd = (word: string): boolean =>
  isOtherWord(word) ||
  topicOf(word) !== undefined ||
  NEGATIONS.has(word) ||
  BREAKS.has(word) ||
  SET_NOUNS.has(word) ||
  word === 'nor' ||
  word === '&';
