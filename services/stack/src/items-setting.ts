// A setting that is a list of items `name=value`.
import { List } from '@strata/http';
import { z } from 'zod';

/** Of two items with the same name the later one counts. Unknown names are refused. */
export const itemsOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  List.transform((items) => Object.fromEntries(items.map((item) => /^([^=]*)=?(.*)$/s.exec(item)?.slice(1) ?? [])))
    .pipe(z.strictObject(shape, { error: (issue) => unknownItems(issue, Object.keys(shape)) }))
    .prefault('');

function unknownItems({ code, keys }: z.core.$ZodRawIssue, known: readonly string[]): string | undefined {
  if (code !== 'unrecognized_keys') return undefined;
  return `unknown items ${keys.join(', ')}; expected NAME=VALUE, with the names ${known.join(', ')}`;
}
