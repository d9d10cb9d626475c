import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Provider, Rulebook } from '@strata/detect';
import { openRulebook } from '../scan/open-rulebook.ts';
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

it('the nearest providers have the names most like what was written, as by comparing every name', async () => {
  const rulebook = await openRulebook({});
  assert.equal(nearestProviders('clodflare', rulebook)[0], 'Cloudflare');
  const names = [...rulebook.providers.values()].filter((_, i) => i % 500 === 0).map(({ name }) => name);
  const similar = names.flatMap((name) => [name.slice(1), `${name}s`]);
  for (const text of [...similar, ' GOGLE workspace', 'unlisted-1', '', '☃', '%', 'aaaa', '__proto__', 'x'.repeat(300)])
    assert.deepEqual(nearestProviders(text, rulebook), compared(text, rulebook), text);
});
