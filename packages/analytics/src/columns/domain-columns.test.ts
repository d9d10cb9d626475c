import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../../../../tests/support/random.ts';
import { CodedColumn } from './coded-column.ts';
import { DomainColumns, type DomainFacts, MAX_SERVICES } from './domain-columns.ts';
import { PAGE_SIZE } from './pages.ts';

const TIMES = { scannedAt: 1, firstSeen: 2_000, changedAt: 0 };
const FACTS: DomainFacts = { ...TIMES, state: 0, sector: 0, posture: 0, holders: 0, country: 0, score: null };
/** Sizes rather than lists, enough of them that every list moves many times. */
const sizes = { minLength: 1_500, maxLength: 2_500, size: 'max' } as const;
const step = fc.record({ domain: fc.nat(299), size: fc.nat(MAX_SERVICES), shown: fc.nat(MAX_SERVICES) });
const steps = fc.array(step, sizes);

const servicesOf = (domain: number, size: number, round: number) =>
  Array.from({ length: size }, (_, i) => domain * 7 + i * 31 + round);

it('the columns keep the services of every domain without gaps, while lists grow and shrink', () =>
  fc.assert(
    fc.property(steps, (all) => {
      const columns = new DomainColumns();
      const known = new Map<number, { readonly services: number[]; readonly builds: number[] }>();
      for (const [round, { domain, size, shown }] of all.entries()) {
        const services = servicesOf(domain, size, round);
        const builds = servicesOf(domain, Math.min(size, shown), round + 1);
        columns.set(domain, { ...FACTS, scannedAt: round }, services, builds);
        known.set(domain, { services, builds });
      }
      const expected = (of: DomainColumns) => {
        for (const [domain, { services, builds }] of known) {
          assert.deepEqual([...of.services(domain)], services);
          const { pool, from, to } = of.buildsIn(domain);
          assert.deepEqual([...pool.subarray(from, to)], builds);
        }
      };
      expected(columns);
      const used = [...known.values()].reduce((sum, each) => sum + each.services.length + each.builds.length, 0);
      const page = columns.page(0).services;
      page.trim();
      assert.equal(page.values.length, used);
      expected(columns);
    }),
    { numRuns: 5, endOnFailure: true },
  ));
it('the columns keep every fact to its limits', () => {
  const columns = new DomainColumns();
  const times = { scannedAt: 2 ** 43, firstSeen: (2 ** 32 - 1) * 1_000, changedAt: 2 ** 32 * 1_000 - 1_000 };
  const facts = { ...times, state: 3, sector: 17, posture: 2 ** 32 - 1, holders: 2 ** 30 - 1, country: 676 };
  const scores = [null, 100, 0].map((score, i) => ({ id: 4_999 + i, given: { ...facts, score } }));
  for (const { id, given } of scores) columns.set(id, given, []);
  for (const { id, given } of scores) assert.deepEqual(columns.facts(id), given);
});
it('a coded column keeps the value of every row, however many values there are and were', () => {
  const random = randomFrom(7);
  const below = (end: number) => Math.floor(random() * end);
  let column = new CodedColumn();
  const expected = new Uint32Array(PAGE_SIZE);
  // Few values, a value of its own in every row, far more values in time, and few again.
  for (const values of [1, 2, 3, 5, 17, 260, 2 ** 32, 3]) {
    for (let step = 0; step < 3 * PAGE_SIZE; step += 1) {
      const [row, value] = [below(PAGE_SIZE), below(values)];
      column.set(row, value);
      expected[row] = value;
    }
    column = column.copy();
    assert.ok(column.isSound);
    assert.deepEqual(
      Uint32Array.from(expected, (_, row) => column.get(row)),
      expected,
    );
  }
  for (let step = 0; step < 3 * PAGE_SIZE; step += 1) column.set(1, step);
  assert.ok(column.byteLength < PAGE_SIZE * 10);
});
