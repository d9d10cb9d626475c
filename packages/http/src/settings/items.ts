// A setting that groups options: a list of items `name=value`.
import { z } from 'zod';
import { suggestionFor } from '../nearest-names.ts';

/**
 * Items are separated by commas or spaces. A value ends where the next `name=` begins: it may be a list, or a path with
 * spaces. Of two items with the same name the later one counts; an empty one is absent. Unknown names are refused.
 * A value at the start that has no name is that of `first`.
 */
export const itemsOf = <Shape extends z.ZodRawShape>(shape: Shape, { first }: { readonly first?: keyof Shape } = {}) =>
  z
    .preprocess(
      (text) => readItems(String(text), first?.toString()),
      z.strictObject(shape, { error: (issue) => unknownItems(issue, Object.keys(shape)) }),
    )
    .prefault('');

type Items = Readonly<Record<string, string | undefined>>;

function readItems(text: string, first: string | undefined): Items {
  const [start = '', ...rest] = text.split(/(?:^|[\s,])([A-Za-z][\w-]*)=/).map(withoutSeparators);
  const items = rest.flatMap((name, at) => (at % 2 === 0 ? [[name, rest[at + 1] || undefined] as const] : []));
  // Without a `first` item the text is refused as an unknown name.
  return Object.fromEntries(start === '' ? items : [[first ?? start, start] as const, ...items]);
}

const withoutSeparators = (text: string) => text.replace(/^[\s,]+/, '').replace(/(?<![\s,])[\s,]+$/, '');

function unknownItems({ code, keys }: z.core.$ZodRawIssue, known: readonly string[]): string | undefined {
  if (code !== 'unrecognized_keys' || !Array.isArray(keys)) return undefined;
  return keys
    .map((key) => `unknown item '${String(key).slice(0, 64)}'; ${suggestionFor(String(key), known)}`)
    .join('; ');
}
