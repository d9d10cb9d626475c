// Answers of TXT questions from a table, without a resolver.
import type { Lookup } from '@strata/detect';
import type { Ask } from '../ask.ts';

type Policies = Readonly<Record<string, string | readonly string[]>> | ((name: string) => readonly string[]);

/** `asked` lists the names in order; a name that is not in the table does not exist. */
export function table(policies: Policies = {}) {
  const asked: string[] = [];
  const recordsOf = typeof policies === 'function' ? policies : (name: string) => [policies[name] ?? []].flat();
  const ask = (async (name: string): Promise<Lookup<string>> => {
    asked.push(name);
    const records = recordsOf(name);
    return { status: records.length > 0 ? 'found' : 'nxdomain', records, aliases: [] };
  }) as Ask;
  return { ask, asked };
}
