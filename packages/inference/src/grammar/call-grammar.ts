// The grammar of calls, in the notation of a held format: each tool's arguments by its schema.
import type { CallSyntax } from '../answer/format/syntax.ts';
import { CompletionError } from '../errors.ts';
import type { Tool } from '../request/request.ts';
import { literal } from './gbnf.ts';
import { MAX_GRAMMAR_BYTES } from './grammar-bounds.ts';
import { type RuleTarget, schemaRule } from './schema-grammar.ts';
import type { Work } from './text/work.ts';

export interface HeldTool extends Pick<Tool, 'name' | 'parameters'> {
  /** Where the request has the schema. */
  readonly param: string;
}

/** What an answer may consist of. */
export interface AnswerRules {
  readonly rules: Map<string, string>;
  readonly calls: CallGrammar | undefined;
  /** The rule of the required JSON. */
  readonly schema: string | undefined;
  readonly isCallForced: boolean;
}
export const oneOf = (texts: readonly string[]): string => `(${texts.map(literal).join(' | ')})`;

/** The rule of the arguments of the tool at an index. Throws CompletionError. */
export function argumentsRule({ parameters }: Pick<Tool, 'parameters'>, i: number, target: Omit<RuleTarget, 'prefix'>) {
  return schemaRule({ type: 'object', ...parameters }, { ...target, prefix: `t${i}-` });
}

export interface CallOptions {
  readonly rules: Map<string, string>;
  /** Calls in an answer. */
  readonly max: number;
  readonly work: Work;
}

export class CallGrammar {
  /** The name of each tool and the rule of its arguments, quoted for a grammar. */
  readonly arguments: readonly { readonly name: string; readonly rule: string }[];
  readonly #rules: Map<string, string>;
  readonly #max: number;

  /** Throws CompletionError for a schema that cannot be held, and for schemas that are too large together. */
  constructor(tools: readonly HeldTool[], { rules, max, work }: CallOptions) {
    this.#rules = rules;
    this.#max = max;
    let chars = 0;
    this.arguments = tools.map(({ name, parameters, param }, i) => {
      const own = new Map<string, string>();
      const rule = argumentsRule({ parameters }, i, { param, rules: own, work });
      for (const [each, text] of own) {
        rules.set(each, text);
        chars += each.length + text.length;
      }
      if (chars > MAX_GRAMMAR_BYTES)
        throw new CompletionError('unsupported_value', 'The schemas of the tools are too large together.', { param });
      return { name, rule };
    });
    const call = this.arguments.map(({ name, rule }) => `${literal(JSON.stringify(name))} "," ws key ":" ws ${rule}`);
    rules.set('key', '"\\"arguments\\"" | "\\"parameters\\""');
    rules.set('call', `"{" ws "\\"" "tool_"? "name\\"" ":" ws (${call.join(' | ')}) ws "}"`);
    rules.set('calls-json', `call | ${this.bare('[')}`);
  }

  /** The rule of a call, or of a list of calls, that begins with this character. */
  bare(start: string): string {
    return start === '[' ? `"[" ws ${this.#list} ws "]"` : 'call';
  }

  /** The rule of one or more calls after marks; undefined without a notation that has marks. */
  marked(syntaxes: readonly CallSyntax[]): string | undefined {
    if (syntaxes.length === 0) return undefined;
    const calls = syntaxes.map((syntax, i) => {
      const { opens, closes, body } = syntax;
      const open = oneOf(opens);
      const inner = body.kind === 'named' ? this.#named(body.written, `named-${i}`) : 'calls-json';
      const close = closes.length > 0 ? ` (gap ${oneOf(closes)}){0,2}` : '';
      return `${open} gap (${open} gap)? ${inner}${close}`;
    });
    this.#rules.set('marked', calls.join(' | '));
    return this.#max === 1 ? 'marked' : this.#rule('calls', `marked (gap marked){0,${this.#max - 1}}`);
  }

  get #list(): string {
    return this.#max === 1 ? 'call' : `call ("," ws call){0,${this.#max - 1}}`;
  }

  #named(written: readonly string[], name: string): string {
    const header = (text: string, tool: string) =>
      text.replace('NAME', tool).split('#').map(literal).join(' [0-9]{1,3} ');
    const each = this.arguments.map(
      ({ name: tool, rule }) => `(${written.map((text) => header(text, tool)).join(' | ')}) ${rule}`,
    );
    return this.#rule(name, each.join(' | '));
  }

  #rule(name: string, text: string): string {
    this.#rules.set(name, text);
    return name;
  }
}
