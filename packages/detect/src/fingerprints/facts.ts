// The patterns of a community set that the catalog could have too: literal ones, in the fields of a rule group.

import type { Provider } from '../rulebook/catalog.ts';
import type { Fact } from '../suggestions.ts';
import { DNS_CHANNELS, readingsOf, ruleOfPattern } from './compile/channels.ts';
import { providersOf } from './compile/set-providers.ts';
import type { FieldPattern, FingerprintSet } from './read/fingerprint-set.ts';

/** The facts of a set; `skipped` is the number of patterns that are expressions, or of fields that the catalog does not have. */
export function factsOf(
  set: FingerprintSet,
  catalog: readonly Provider[],
): { readonly facts: readonly Fact[]; readonly skipped: number } {
  const { of } = providersOf(set, catalog);
  const all = set.technologies.flatMap(({ patterns }, at) =>
    patterns.map((pattern): Fact | undefined => {
      const owner = of[at];
      const field = fieldOf(pattern);
      if (!owner || !field) return undefined;
      const { id, name, website } = owner.provider;
      const [reading = 'plain'] = readingsOf(pattern);
      return { provider: id, name, website, ...field, category: ruleOfPattern(owner, pattern, reading).category };
    }),
  );
  const facts = all.filter((fact) => fact !== undefined);
  return { facts, skipped: all.length - facts.length };
}

function fieldOf({ field, key, expression }: FieldPattern): Pick<Fact, 'field' | 'value'> | undefined {
  if (field === 'cookies') {
    const value = key === '' ? cookieOf(expression) : key;
    return value === undefined ? undefined : { field: 'cookie', value };
  }
  if (field === 'headers' && expression === '') return { field: 'header', value: { name: key } };
  const value = literalOf(expression);
  if (value === undefined) return undefined;
  if (field === 'headers') return { field: 'header', value: { name: key, value } };
  if (field === 'certIssuer') return { field: 'tls', value };
  if (field === 'scriptSrc')
    return { field: 'html.asset', value: value.replace(/^(?:https?:)?\/\//, '').toLowerCase() };
  if (field === 'meta') return key === 'generator' ? { field: 'html.generator', value } : undefined;
  if (field !== 'dns') return undefined;
  // These channels are named as the fields.
  const name = DNS_CHANNELS.get(key);
  if (name === undefined) return undefined;
  return { field: name, value: name === 'txt' ? value : value.replace(/^\./, '').toLowerCase() };
}

/** The catalog's form of the expression of a name with one `*`, as the reader writes it. */
function cookieOf(expression: string): string | undefined {
  return /^\^\(\?:([\w~-](?:[\w~-]|\\\.)*\.\*(?:[\w~-]|\\\.)*)\)\$$/
    .exec(expression)?.[1]
    ?.replace('.*', '*')
    .replaceAll('\\', '');
}

/** The text of an expression without operators. */
function literalOf(expression: string): string | undefined {
  const [, body = ''] = /^\^?((?:[^\\.[\]{}()*+?^$|]|\\[^\w])+)\$?$/.exec(expression) ?? [];
  return body === '' ? undefined : body.replace(/\\(.)/g, '$1');
}
