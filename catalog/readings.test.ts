// Records as domains publish them, and answers as sites give them, with what the catalog reads in each: vectors/catalog.json.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { vectorsIn } from '../tests/support/vectors.ts';
import { profileOf } from './test/shapes.ts';

interface Reading {
  readonly record: object;
  /** `category provider version`, the version where one is shown, in the order of detection: nothing else is read. */
  readonly services: readonly string[];
  /** Of each service, where the software is known by it. */
  readonly platforms?: readonly (string | null)[];
  readonly state?: string;
  /** Of the strongest evidence of the first service. */
  readonly rule?: string;
}

const readings = vectorsIn<{ name: string; cases: Reading[] }[]>('catalog.json');

for (const { name, cases } of readings)
  it(name, () => {
    for (const { record, services: expected, platforms, state, rule } of cases) {
      const { services, ...profile } = profileOf(record);
      const found = services.map(({ category, provider, version }) =>
        [category, provider, version ?? []].flat().join(' '),
      );
      assert.deepEqual(found, expected, JSON.stringify(record));
      const shown = services.map(({ platform }) => platform ?? null);
      if (platforms) assert.deepEqual(shown, platforms, JSON.stringify(record));
      if (state) assert.equal(profile.state, state, JSON.stringify(record));
      if (rule) assert.equal(services[0]?.evidence[0]?.rule, rule, JSON.stringify(record));
    }
  });
