// The rules of a grammar while it is written: names, bounds, and repetitions.
import { TooLarge } from './text/work.ts';

const MAX_RULES = 9_000;
const MAX_CHARS = 400_000;
/** Longer repetitions are written by doubling, because the engine writes out each. */
const MAX_PLAIN = 256;
/** Maximum sum of the repetitions that the engine writes out. */
const MAX_TOTAL_REPEATS = 20_000;

export class GrammarRules {
  readonly texts = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #upTos = new Map<string, string>();
  readonly #prefix: string;
  #chars = 0;
  #repeats = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A rule with this text; a single name needs none. */
  add(text: string): string {
    if (/^[a-z][\w-]*$/.test(text)) return text;
    const known = this.#names.get(text);
    if (known) return known;
    const { name, write } = this.reserve();
    write(text);
    this.#names.set(text, name);
    return name;
  }

  /** A name, whose rule is written later: it may refer to itself. */
  reserve(): { readonly name: string; write(text: string): void } {
    const name = `${this.#prefix}${this.texts.size}`;
    if (this.texts.size >= MAX_RULES) throw new TooLarge('too many rules');
    this.texts.set(name, '');
    const write = (text: string) => {
      this.#chars += text.length;
      if (this.#chars > MAX_CHARS) throw new TooLarge('too long');
      this.texts.set(name, text);
    };
    return { name, write };
  }

  /** `min` to `max` of a rule; undefined for none at all. */
  repeat(text: string, min: number, max: number): string | undefined {
    if (max === 0) return undefined;
    const name = this.add(text);
    const isOpen = max === Number.POSITIVE_INFINITY;
    if (Math.max(min, isOpen ? 0 : max) <= MAX_PLAIN) {
      this.#repeats += isOpen ? min : max;
      if (this.#repeats > MAX_TOTAL_REPEATS) throw new TooLarge('too many repetitions');
      if (min === 1 && max === 1) return name;
      return isOpen ? (min === 0 ? `${name}*` : `${name}{${min},}`) : `${name}{${min},${max}}`;
    }
    const required = min === 0 ? [] : [this.#times(name, min)];
    return [...required, isOpen ? `${name}*` : this.#upTo(name, max - min)].join(' ');
  }

  /** Exactly `count`, as twice the half. */
  #times(name: string, count: number): string {
    if (count <= 8) return this.add(Array(count).fill(name).join(' '));
    const half = this.#times(name, count >> 1);
    return this.add(`${half} ${half}${count % 2 === 1 ? ` ${name}` : ''}`);
  }

  /** At most `count`: at least the half and a rest, or less than the half. Each number is written in one way. */
  #upTo(name: string, count: number): string {
    if (count === 0) return '""';
    if (count <= 8) return `${name}{0,${count}}`;
    const key = `${name} ${count}`;
    const known = this.#upTos.get(key);
    if (known) return known;
    const half = (count >> 1) + 1;
    const less = this.#upTo(name, half - 1);
    const rule = this.add(`${this.#times(name, half)} ${this.#upTo(name, count - half)} | ${less}`);
    this.#upTos.set(key, rule);
    return rule;
  }
}
