// Seeded random texts of a GBNF grammar, and whether it accepts a text: what an engine with this grammar could generate.
// As in llama.cpp a state is a set of stacks.
import assert from 'node:assert/strict';
import { randomFrom } from '../../../../tests/support/random.ts';

type Ranges = readonly (readonly [number, number])[];
type Item = { readonly ranges: Ranges } | { readonly rule: string };
type Rules = Map<string, Item[][]>;
/** What is left of a sequence, and what follows it. */
interface Frame {
  readonly id: number;
  readonly items: readonly Item[];
  readonly at: number;
  readonly parent: Frame | undefined;
}

/** A literal, a class, the name of a rule, a repetition, or an operator. */
const TOKEN =
  /"(?<text>(?:\\.|[^"\\])*)"|\[(?<not>\^)?(?<set>(?:\\.|[^\]\\])*)\]|(?<rule>[a-z][a-z0-9-]*)|\{(?<min>\d+)(?<open>,)?(?<max>\d*)\}|[()|?*+]/gu;
const CHARACTER = /\\x(..)|\\u(.{4})|\\U(.{8})|\\(.)|([\s\S])/gu;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const SIGNS: Readonly<Record<string, readonly [number, number]>> = {
  '?': [0, 1],
  '*': [0, Infinity],
  '+': [1, Infinity],
};
/** At this depth texts become as short as possible. */
const DEEP = 24;

export class Grammar {
  readonly #rules: Rules = new Map();
  readonly #heights = new Map<string, number>();
  readonly #frames = new Map<string, Frame>();
  readonly #tops = new Map<Frame, readonly Frame[]>();
  readonly #ids = new Map<readonly Item[], number>();
  /** The largest number of stacks of any state. */
  maxStacks = 0;

  constructor(gbnf: string) {
    for (const line of gbnf.trim().split('\n')) {
      const [, name = '', text = ''] = /^([\w-]+) ::= (.*)$/su.exec(line) ?? assert.fail(`no rule: ${line}`);
      assert.equal(text.replaceAll(TOKEN, '').trim(), '', `what is not understood in ${line}`);
      this.#rules.set(name, this.#choice([...text.matchAll(TOKEN)]));
    }
    for (let before = -1; before !== this.#heights.size; ) {
      before = this.#heights.size;
      for (const [name, options] of this.#rules) {
        const height = 1 + Math.min(...options.map((each) => this.#height(each)));
        if (height < Infinity && !this.#heights.has(name)) this.#heights.set(name, height);
      }
    }
    for (const name of this.#rules.keys()) assert.ok(this.#heights.has(name), `rule ${name} has no text`);
  }

  sample(random: () => number): string {
    const write = (rule: string, depth: number): string => {
      const options = this.#rules.get(rule) ?? [];
      const low = Math.min(...options.map((each) => this.#height(each)));
      const open = depth > DEEP ? options.filter((each) => this.#height(each) === low) : options;
      const items = open[Math.floor(random() * open.length)] ?? [];
      return items
        .map((item) => ('rule' in item ? write(item.rule, depth + 1) : characterOf(item.ranges, random)))
        .join('');
    };
    return write('root', 0);
  }

  accepts(text: string): boolean {
    let stacks: ReadonlySet<Frame | undefined> = new Set(
      (this.#rules.get('root') ?? []).flatMap((items) => this.#top(items, 0, undefined)),
    );
    for (const char of text) {
      const code = char.codePointAt(0) ?? 0;
      const next = new Set<Frame | undefined>();
      for (const frame of stacks) {
        const item = frame?.items[frame.at];
        if (
          frame === undefined ||
          item === undefined ||
          !('ranges' in item) ||
          !item.ranges.some(([a, b]) => a <= code && code <= b)
        )
          continue;
        for (const each of this.#top(frame.items, frame.at + 1, frame.parent)) next.add(each);
      }
      stacks = next;
      this.maxStacks = Math.max(this.maxStacks, stacks.size);
      if (stacks.size === 0) return false;
    }
    return stacks.has(undefined);
  }

  /** The frames at whose top is a character, or undefined for the end of the text. */
  #top(items: readonly Item[], at: number, parent: Frame | undefined): readonly (Frame | undefined)[] {
    const item = items[at];
    if (item === undefined)
      return parent === undefined ? [undefined] : this.#top(parent.items, parent.at, parent.parent);
    const frame = this.#frame(items, at, parent);
    if ('ranges' in item) return [frame];
    const known = this.#tops.get(frame);
    if (known) return known;
    const after = at + 1 < items.length ? this.#frame(items, at + 1, parent) : parent;
    const found = [...new Set((this.#rules.get(item.rule) ?? []).flatMap((each) => this.#top(each, 0, after)))];
    this.#tops.set(frame, found as readonly Frame[]);
    return found;
  }

  #frame(items: readonly Item[], at: number, parent: Frame | undefined): Frame {
    const id = this.#ids.get(items) ?? this.#ids.size;
    this.#ids.set(items, id);
    const key = `${id},${at},${parent?.id ?? ''}`;
    const known = this.#frames.get(key);
    if (known) return known;
    const made = { id: this.#frames.size, items, at, parent };
    this.#frames.set(key, made);
    return made;
  }

  #height(items: readonly Item[]): number {
    return Math.max(0, ...items.map((item) => ('rule' in item ? (this.#heights.get(item.rule) ?? Infinity) : 0)));
  }

  #choice(tokens: RegExpExecArray[]): Item[][] {
    const options: Item[][] = [[]];
    for (let next = tokens.shift(); next && next[0] !== ')'; next = tokens.shift()) {
      if (next[0] === '|') options.push([]);
      else options.at(-1)?.push(...this.#repeated(this.#item(next, tokens), tokens));
    }
    return options;
  }

  #item({ groups: { text, not, set, rule } = {} }: RegExpExecArray, tokens: RegExpExecArray[]): Item[] {
    if (text !== undefined) return [...codes(text)].map((code) => ({ ranges: [[code, code]] }));
    if (rule) return [{ rule }];
    if (set === undefined) return [{ rule: this.#add(this.#choice(tokens)) }];
    return [{ ranges: not ? outside(ranges(set)) : ranges(set) }];
  }

  #repeated(items: Item[], tokens: RegExpExecArray[]): Item[] {
    const [sign = '', { min, open, max } = {}] = [tokens[0]?.[0], tokens[0]?.groups];
    const range = min === undefined ? SIGNS[sign] : [Number(min), open ? Number(max || Infinity) : Number(min)];
    if (range === undefined) return items;
    tokens.shift();
    const [low = 0, high = 0] = range;
    assert.ok(high >= low, 'an empty range');
    let tail: Item[] = [];
    if (high === Infinity) {
      const name = `*${this.#rules.size}`;
      tail = [{ rule: name }];
      this.#rules.set(name, [[...items, ...tail], []]);
    } else for (let i = low; i < high; i += 1) tail = [{ rule: this.#add([[...items, ...tail], []]) }];
    return [...Array(low).fill(items).flat(), ...tail];
  }

  #add(options: Item[][]): string {
    const name = `*${this.#rules.size}`;
    this.#rules.set(name, options);
    return name;
  }
}

export function sampleGrammar(gbnf: string, count: number): string[] {
  const [grammar, random] = [new Grammar(gbnf), randomFrom(1)];
  return Array.from({ length: count }, () => grammar.sample(random));
}

function* codes(text: string): Generator<number> {
  for (const [, two, four, eight, letter, plain] of text.matchAll(CHARACTER)) {
    const hex = two ?? four ?? eight;
    yield hex === undefined
      ? ((letter ? (ESCAPES[letter] ?? letter) : plain)?.codePointAt(0) ?? 0)
      : Number.parseInt(hex, 16);
  }
}

function ranges(set: string): Ranges {
  const parts = [...set.matchAll(CHARACTER)].map(([part]) => part);
  const found: [number, number][] = [];
  for (let i = 0; i < parts.length; i += 1) {
    const [from = 0] = codes(parts[i] ?? '');
    const isRange = parts[i + 1] === '-' && i + 2 < parts.length;
    const [to = from] = isRange ? codes(parts[i + 2] ?? '') : [];
    found.push([from, to]);
    if (isRange) i += 2;
  }
  return found;
}

function outside(set: Ranges): Ranges {
  const cuts = [...set].sort(([a], [b]) => a - b);
  return [
    ...cuts.map(([from], i) => [i === 0 ? 0 : (cuts[i - 1]?.[1] ?? 0) + 1, from - 1] as const),
    [(cuts.at(-1)?.[1] ?? -1) + 1, 0x10ffff] as const,
  ].filter(([a, b]) => a <= b);
}

/** Mostly ASCII. */
function characterOf(all: Ranges, random: () => number): string {
  const ascii = all.map(([a, b]) => [a, Math.min(b, 127)] as const).filter(([a, b]) => a <= b);
  const open = ascii.length > 0 && random() < 0.9 ? ascii : all;
  const [from, to] = open[Math.floor(random() * open.length)] ?? [0, 0];
  const code = from + Math.floor(random() * (to - from + 1));
  return String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0xe000 : code);
}
