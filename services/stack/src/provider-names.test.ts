import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Provider, Rulebook } from '@strata/detect';
import { openRulebook } from './open-rulebook.ts';
import { nearestProviders } from './provider-names.ts';

/** By the definition, each name compared with what was written. */
function compared(text: string, rulebook: Rulebook): string[] {
  const pairs = (name: string) => {
    const marked = `^${name.slice(0, 64)}$`;
    return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
  };
  const wanted = pairs(text.normalize('NFC').trim().toLowerCase());
  const likeness = ({ id, name, aliases }: Provider) =>
    Math.max(
      ...[id, name, ...aliases].map((each) => {
        const own = pairs(each.toLowerCase());
        return (2 * wanted.intersection(own).size) / (wanted.size + own.size);
      }),
    );
  return [...rulebook.providers.values()]
    .map((entry) => ({ name: entry.name, likeness: likeness(entry) }))
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

describe('who might have been meant', () => {
  let rulebook: Rulebook;
  before(async () => {
    rulebook = await openRulebook({});
  });

  it('is the provider whose name is most like what was written', () => {
    assert.equal(nearestProviders('clodflare', rulebook)[0], 'Cloudflare');
    assert.equal(nearestProviders(' GOGLE workspace', rulebook)[0], 'Google Workspace');
  });

  it('is the same as by comparing every name', () => {
    const names = [...rulebook.providers.values()].flatMap(({ name }, i) =>
      i % 250 === 0 ? [name.slice(1), `${name}s`] : [],
    );
    for (const text of [...names, 'nobody-1', '', '☃', '%', 'aaaa', '__proto__', 'x'.repeat(300)])
      assert.deepEqual(nearestProviders(text, rulebook), compared(text, rulebook), text);
  });
});
