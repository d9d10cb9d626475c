// Settings and the table of them in a document.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

type Shape = Readonly<Record<string, { safeParse(value: undefined): { readonly data?: unknown } }>>;

/** Fails unless the document of this name in `docs/` has every variable with its default, and no other. */
export function assertDocumented(document: string, shape: Shape): void {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs', document), 'utf8');
  const rows = [...text.matchAll(/^\| `(STRATA_\w+)` \| (?:`([^`]*)`|[^|]*) \| .+ \|$/gm)];
  assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(shape).sort());
  for (const [, name = '', written = ''] of rows) {
    const given = shape[name]?.safeParse(undefined).data;
    if (given === undefined || Array.isArray(given)) continue;
    assert.equal(written, typeof given === 'boolean' ? (given ? 'on' : 'off') : String(given), name);
  }
}
