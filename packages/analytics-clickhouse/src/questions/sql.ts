// Statements as text with bound parameters: a value in a template is never part of the text.
import type { Params } from '../connection/clickhouse.ts';

type Value = string | number | readonly string[] | readonly number[];

/** A part of a statement, or a complete one. */
export interface Sql {
  readonly parts: readonly (string | { readonly type: string; readonly value: Value })[];
}

/** In the template: parts of statements, texts, integers, and lists of texts or of numbers of domains. */
export function sql(texts: TemplateStringsArray, ...values: readonly (Sql | Value)[]): Sql {
  return {
    parts: texts.flatMap((text, i) => {
      const value = values[i];
      if (value === undefined) return [text];
      return isSql(value) ? [text, ...value.parts] : [text, { type: typeOf(value), value }];
    }),
  };
}

/** Text of this package: never of a request. */
export const raw = (text: string): Sql => ({ parts: [text] });

/** The parts with a separator between them. */
export function joined(parts: readonly Sql[], separator: Sql): Sql {
  return { parts: parts.flatMap(({ parts }, i) => (i === 0 ? parts : [...separator.parts, ...parts])) };
}

/** The text with placeholders, and their values. */
export function bound({ parts }: Sql): { readonly text: string; readonly params: Params } {
  const params: Record<string, Value> = {};
  const texts = parts.map((part, i) => {
    if (typeof part === 'string') return part;
    params[`p${i}`] = part.value;
    return `{p${i}:${part.type}}`;
  });
  return { text: texts.join(''), params };
}

const isSql = (value: Sql | Value): value is Sql => typeof value === 'object' && 'parts' in value;

function typeOf(value: Value): string {
  if (typeof value === 'string') return 'String';
  if (typeof value === 'number') return 'Int64';
  return typeof value[0] === 'string' ? 'Array(String)' : 'Array(UInt32)';
}
