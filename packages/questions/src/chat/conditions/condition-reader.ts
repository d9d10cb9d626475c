// Reads the conditions of a sentence, word by word.
import type { Category } from '@strata/detect';
import { categoryAt } from '../topics.ts';
import { domainIn, type Word, withoutPossessive } from '../words.ts';
import {
  asksForMarket,
  BREAKS,
  CATEGORY_LINKS,
  categoryTerm,
  isEnd,
  isRank,
  MAIN_VERBS,
  NEGATIONS,
  type Term,
  termAt,
  tldTerm,
  UNREAD_WORDS,
  versionAt,
} from './condition-words.ts';

/** A name to look up, as any service or as the provider of a category. */
export interface Reading {
  readonly name: string;
  readonly category?: Category | undefined;
  /** `<1.26` */
  readonly version?: string;
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

const MAX_NAME_WORDS = 6;
/** A domain has one of each: `in Germany and France` is either. */
const ONE_OF = /^(?:country|tld|sector|grade|state):/;

/** Reads a sentence from left to right. */
export class ConditionReader {
  readonly conditions: Condition[] = [];
  readonly unread: string[] = [];
  market: Category | undefined;
  populationSize = 0;
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
    if (MAIN_VERBS.has(word.lower) && !['and', 'or', 'but'].includes(this.#lower[this.#at - 1] ?? '')) {
      this.#endName();
      this.populationSize = this.conditions.length;
    }
    this.#at += this.#readVersion() || this.#readTerm(word) || this.#readCategory() || this.#readWord(word);
    return true;
  }

  /** `nginx older than 1.26`: a version of the name before it. */
  #readVersion(): number {
    const found = this.#name.length === 0 ? undefined : versionAt(this.#lower, this.#at);
    if (!found) return 0;
    this.#pushName([{ name: this.#name.join(' '), version: found.version }], this.#at + found.length);
    return found.length;
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
    if (last?.is.kind === 'name' && this.#isAlsoFor(last)) {
      // `GoDaddy for DNS and email`
      const [{ name } = { name: '' }] = last.is.readings.slice(-1);
      this.#pushName([{ name, category }], end);
    } else if (last?.is.kind === 'name' && this.#isLinked(this.#lastEnd)) {
      this.#setCategory(category);
      this.#lastEnd = end;
    } else if (this.#isNegated && last?.is.kind !== 'term' && this.#lower[this.#at - 1] === 'as') {
      // `Cloudflare for DNS, but not as CDN`
      const name = last?.is.readings.at(-1)?.name ?? '';
      this.#pushName([{ name, category }], end);
    } else if (asksForMarket(this.#lower, this.#at)) this.market = category;
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
    if (!isEnd(lower) && !isRank(this.#lower, this.#at)) {
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

  #isAlsoFor({ is }: Condition): boolean {
    const between = this.#lower.slice(this.#lastEnd, this.#at);
    const hasCategory = is.kind === 'name' && is.readings.length === 1 && is.readings[0]?.category !== undefined;
    return hasCategory && between.includes('and') && between.every((word) => ['and', 'for', 'as'].includes(word));
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
