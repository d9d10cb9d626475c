// Random texts of a GBNF grammar, the same each time: what an engine that holds to it could write.

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly characters: string }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly least: number; readonly most: number };

/** So deep a text becomes as short as it can. */
const DEEP = 24;

export function sampleGrammar(grammar: string, count: number): string[] {
  const rules = new Map(
    grammar
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', text = ''] = line.split(' ::= ');
        return [name, new Parser(text).choice()] as const;
      }),
  );
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 48_271) + 1) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
  const write = (node: Node, depth: number): string => {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'class':
        return node.characters.charAt(Math.floor(random() * node.characters.length));
      case 'rule': {
        const rule = rules.get(node.name);
        if (!rule) throw new Error(`no rule ${node.name}`);
        return write(rule, depth + 1);
      }
      case 'sequence':
        return node.items.map((item) => write(item, depth)).join('');
      case 'choice': {
        // Deep down, the last: primitives and ends stand there.
        const at = depth > DEEP ? node.options.length - 1 : Math.floor(random() * node.options.length);
        return write(node.options[at] as Node, depth);
      }
      case 'repeat': {
        const more = depth > DEEP ? 0 : Math.floor(random() * 3);
        const times = Math.min(node.most, node.least + more);
        return Array.from({ length: times }, () => write(node.item, depth + 1)).join('');
      }
      default:
        return node satisfies never;
    }
  };
  return Array.from({ length: count }, () => write({ kind: 'rule', name: 'root' }, 0));
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  choice(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as Node) : { kind: 'choice', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (;;) {
      this.#space();
      const next = this.#text[this.#at];
      if (next === undefined || next === '|' || next === ')') return { kind: 'sequence', items };
      items.push(this.#repeated(this.#item()));
    }
  }

  #item(): Node {
    if (this.#take('(')) {
      const inner = this.choice();
      if (!this.#take(')')) throw new Error(`no ) in ${this.#text}`);
      return inner;
    }
    if (this.#take('"')) return { kind: 'text', text: this.#characters('"').join('') };
    if (this.#take('[')) return this.#class();
    const name = /^[a-z][a-z0-9-]*/.exec(this.#text.slice(this.#at))?.[0];
    if (!name) throw new Error(`what is ${this.#text.slice(this.#at, this.#at + 20)}?`);
    this.#at += name.length;
    return { kind: 'rule', name };
  }

  #class(): Node {
    const isNegated = this.#take('^');
    const characters = this.#characters(']');
    const all: string[] = [];
    for (let i = 0; i < characters.length; i += 1) {
      if (characters[i + 1] === '-' && i + 2 < characters.length) {
        for (let code = characters[i]?.charCodeAt(0) ?? 0; code <= (characters[i + 2]?.charCodeAt(0) ?? 0); code += 1)
          all.push(String.fromCharCode(code));
        i += 2;
      } else all.push(characters[i] as string);
    }
    const chosen = isNegated ? [...'az09 é{}[]:,\u2028'].filter((each) => !all.includes(each)) : all;
    return { kind: 'class', characters: chosen.join('') };
  }

  /** Up to the closing one; escapes read. */
  #characters(end: string): string[] {
    const found: string[] = [];
    for (;;) {
      const next = this.#text[this.#at++];
      if (next === undefined) throw new Error(`no ${end} in ${this.#text}`);
      if (next === end) return found;
      if (next !== '\\') {
        found.push(next);
        continue;
      }
      const escaped = this.#text[this.#at++] ?? '';
      if (escaped === 'x') {
        found.push(String.fromCharCode(Number.parseInt(this.#text.slice(this.#at, this.#at + 2), 16)));
        this.#at += 2;
      } else found.push({ n: '\n', r: '\r', t: '\t' }[escaped] ?? escaped);
    }
  }

  #repeated(item: Node): Node {
    if (this.#take('?')) return { kind: 'repeat', item, least: 0, most: 1 };
    if (this.#take('*')) return { kind: 'repeat', item, least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { kind: 'repeat', item, least: 1, most: Number.POSITIVE_INFINITY };
    const range = /^\{(\d+)(,)?(\d*)\}/.exec(this.#text.slice(this.#at));
    if (!range) return item;
    this.#at += range[0].length;
    const least = Number(range[1]);
    const most = range[2] === undefined ? least : range[3] ? Number(range[3]) : Number.POSITIVE_INFINITY;
    if (most < least) throw new Error(`an empty range in ${this.#text}`);
    return { kind: 'repeat', item, least, most };
  }

  #take(text: string): boolean {
    if (text === '|' || text === ')') this.#space();
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #space(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }
}
