// A setting that groups options: a list of items `name=value`.
import { z } from 'zod';
import { suggestionFor } from '../nearest-names.ts';

/**
 * Items are separated by commas or spaces, which may also surround `=`. A value ends where the next `name=` begins: it may
 * be a list, or a path with spaces. An empty item is absent. Unknown names, and names with two values, are refused. A value
 * at the start that has no name is that of `first`; without `first` it is refused, and not repeated in the message: it may
 * be a URL with a password.
 */
export const itemsOf = <Shape extends z.ZodRawShape>(shape: Shape, { first }: { readonly first?: keyof Shape } = {}) =>
  z
    .preprocess(
      (text, context) => readItems(String(text), first?.toString(), context),
      z.strictObject(shape, { error: (issue) => unknownItems(issue, Object.keys(shape)) }),
    )
    .prefault('');

type Items = Readonly<Record<string, string | undefined>>;

/** The items of a list in their order, empty ones too, and the value without a name at its start, '' without one. */
export function splitItems(text: string): {
  readonly start: string;
  readonly items: readonly [name: string, value: string][];
} {
  const [start = '', ...rest] = text.split(/(?:^|[\s,])([A-Za-z][\w-]*)\s*=/).map(withoutSeparators);
  const items = rest.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, rest[at + 1] ?? '']] : []));
  return { start, items };
}

function readItems(text: string, first: string | undefined, context: z.RefinementCtx): Items {
  const given = splitItems(text);
  const items = new Map<string, string | undefined>(given.start === '' ? [] : [[first ?? '', given.start]]);
  for (const [name, value] of given.items) {
    const earlier = items.get(name);
    if (value && earlier) context.addIssue({ code: 'custom', message: `item '${name.slice(0, 64)}' is set twice` });
    items.set(name, value || earlier);
  }
  return Object.fromEntries(items);
}

const withoutSeparators = (text: string) => text.replace(/^[\s,]+/, '').replace(/(?<![\s,])[\s,]+$/, '');

function unknownItems({ code, keys }: z.core.$ZodRawIssue, known: readonly string[]): string | undefined {
  if (code !== 'unrecognized_keys' || !Array.isArray(keys)) return undefined;
  return keys
    .map((key) => {
      const what = key === '' ? 'it begins with a value without a name' : `unknown item '${String(key).slice(0, 64)}'`;
      return `${what}; ${suggestionFor(String(key), known)}`;
    })
    .join('; ');
}
