// docs/detection.md says what the code does: its table is the code's, its example entry loads.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { loadCatalog } from './load-catalog.ts';
import { FAMILY_OF, STRENGTHS } from './strengths.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/detection.md'), 'utf8');

describe('docs/detection.md', () => {
  it('has the strengths of the code', () => {
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([a-z]+) \| ([\d.]+) \|([^|]*)\|$/gm)];
    const documented = Object.fromEntries(
      rows.map(([, channel = '', family, any, roles = '']) => [
        channel,
        { family, any: Number(any), roles: rolesOf(roles) },
      ]),
    );
    const coded = Object.fromEntries(
      Object.entries(STRENGTHS).map(([channel, { any, roles }]) => [
        channel,
        { family: FAMILY_OF[channel as keyof typeof FAMILY_OF], any, roles: { ...roles } },
      ]),
    );
    assert.deepEqual(documented, coded);
  });

  it('shows an entry that loads', () => {
    const [, entry = ''] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(page) ?? [];
    assert.equal(loadCatalog([JSON.parse(entry)])[0]?.id, 'fastmail');
  });
});

function rolesOf(cell: string): Record<string, number> {
  return Object.fromEntries(
    [...cell.matchAll(/([a-z]+) ([\d.]+)/g)].map(([, role = '', strength]) => [role, Number(strength)]),
  );
}
