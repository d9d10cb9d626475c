// Seeded random texts of a GBNF grammar, and whether it accepts a text: what an engine with this grammar could generate.
// As in llama.cpp a state is a set of stacks.
import assert from 'node:assert/strict';
import { randomFrom } from '../../../../tests/support/random.ts';

/** A set of characters, or a rule. */
type Item = { readonly set: RegExp } | { readonly rule: string };
/** What is left of a sequence, and what follows it. */
interface Frame {
  readonly id: number;
  readonly items: readonly Item[];
  readonly at: number;
  readonly parent: Frame | undefined;
}

/** A literal, a class, the name of a rule, a repetition, or an operator. */
const TOKEN =
  /"(?<text>(?:\\.|[^"\\])*)"|(?<set>\[(?:\\.|[^\]\\])*\])|(?<rule>[a-z][a-z0-9-]*)|\{(?<min>\d+)(?<open>,)?(?<max>\d*)\}|[()|?*+]/gu;
/** The characters that a class is sampled from; from a class without any of these its first. */
const CHARACTERS = [...String.fromCharCode(...Array(128).keys()), 'é', '\u2028', '▁', '｜', '😀'];
const SIGNS: Record<string, readonly [number, number]> = {
  '?': [0, 1],
  '*': [0, Infinity],
  '+': [1, Infinity],
};
/** At this depth texts become as short as possible. */
const DEEP = 24;

export class Grammar {
  readonly #rules = new Map<string, Item[][]>();
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
        .map((item) => ('rule' in item ? write(item.rule, depth + 1) : characterOf(item.set, random)))
        .join('');
    };
    return write('root', 0);
  }

  accepts(text: string): boolean {
    let stacks: ReadonlySet<Frame | undefined> = new Set(
      (this.#rules.get('root') ?? []).flatMap((items) => this.#top(items, 0, undefined)),
    );
    for (const char of text) {
      const next = new Set<Frame | undefined>();
      for (const frame of stacks) {
        const item = frame?.items[frame.at];
        if (frame === undefined || item === undefined || !('set' in item) || !item.set.test(char)) continue;
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
    if ('set' in item) return [frame];
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

  #item({ groups: { text, set, rule } = {} }: RegExpExecArray, tokens: RegExpExecArray[]): Item[] {
    const parts = [...(text ?? '').matchAll(/\\[xuU][0-9A-Fa-f]+|\\.|[^\\]/gsu)].map(([part]) => part);
    if (text !== undefined)
      return parts.map((part) => ({ set: setOf(`[${part.length > 1 || /[xunrt]/.test(part) ? part : `\\${part}`}]`) }));
    if (rule) return [{ rule }];
    return set === undefined ? [{ rule: this.#add(this.#choice(tokens)) }] : [{ set: setOf(set) }];
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

/** The expression of a class of GBNF; the escapes of ECMA-262 differ. */
function setOf(text: string): RegExp {
  const known = sets.get(text);
  if (known) return known;
  const written = text.replaceAll(/\\U(.{8})|\\(.)/gsu, (all, hex: string | undefined, char: string) => {
    if (hex) return `\\u{${hex}}`;
    return /[xunrt\\\]^-]/.test(char) ? all : `\\u{${char.codePointAt(0)?.toString(16)}}`;
  });
  const set = new RegExp(`^${written}$`, 'u');
  sets.set(text, set);
  return set;
}
const sets = new Map<string, RegExp>();

function characterOf(set: RegExp, random: () => number): string {
  const found = CHARACTERS.filter((each) => set.test(each));
  for (let code = 160; found.length === 0; code += 1)
    if (set.test(String.fromCodePoint(code))) found.push(String.fromCodePoint(code));
  return found[Math.floor(random() * found.length)] ?? '';
}
