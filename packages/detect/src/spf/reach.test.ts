// How far an SPF policy is followed, and that following it ends, whatever it leads to.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lookup } from '../evidence.ts';
import { spfNamesToAsk } from './reach.ts';

const found = (record: string): Lookup<string> => ({ status: 'found', records: [record], aliases: [] });
const failed: Lookup<string> = { status: 'timeout', records: [], aliases: [] };

/** Follows a policy to its end, as a probe does; `recordOf` is what each name answers. */
function follow(record: string, recordOf: (name: string) => string): Record<string, Lookup<string>> {
  const known: Record<string, Lookup<string>> = {};
  for (let round = 0; round < 100; round++) {
    const names = spfNamesToAsk([record], known);
    if (names.length === 0) return known;
    for (const name of names) known[name] = found(recordOf(name));
  }
  return assert.fail('does not end');
}

describe('names of an SPF policy to ask for', () => {
  it('are those of the first level that is not known, each once', () => {
    const record = 'v=spf1 include:a.test include:b.test include:A.test. -all';
    assert.deepEqual(spfNamesToAsk([record], {}), ['a.test', 'b.test']);
    const known = { 'a.test': found('v=spf1 include:c.test -all') };
    assert.deepEqual(spfNamesToAsk([record], known), ['b.test']);
    assert.deepEqual(spfNamesToAsk([record], { ...known, 'b.test': failed }), ['c.test']);
  });
  it('are none behind a name that failed, and none of a domain without a policy', () => {
    assert.deepEqual(spfNamesToAsk(['v=spf1 include:a.test -all'], { 'a.test': failed }), []);
    assert.deepEqual(spfNamesToAsk(['include:a.test'], {}), []);
  });
  it('are none that cannot be asked for as they stand', () =>
    assert.deepEqual(spfNamesToAsk(['v=spf1 include:%{i}.a.test include:local redirect=é.test'], {}), []));

  it('are none that only every object has', () =>
    assert.deepEqual(spfNamesToAsk(['v=spf1 include:constructor.test'], { 'x.test': failed }), ['constructor.test']));

  it('are 20 of a tree without end, 10 of a chain, and none after', () => {
    const tree = follow('v=spf1 include:x.test', (name) => `v=spf1 include:a${name} include:b${name}`);
    assert.equal(Object.keys(tree).length, 20);
    const chain = follow('v=spf1 include:x.test', (name) => `v=spf1 include:a${name}`);
    assert.equal(Object.keys(chain).length, 10);
    const wide = Array.from({ length: 60 }, (_, i) => `include:n${i}.test`).join(' ');
    assert.equal(Object.keys(follow(`v=spf1 ${wide}`, () => 'v=spf1 -all')).length, 20);
  });
  it('end where policies lead to each other', () => {
    const known = follow('v=spf1 include:a.test', (name) => `v=spf1 include:${name === 'a.test' ? 'b' : 'a'}.test`);
    assert.deepEqual(Object.keys(known), ['a.test', 'b.test']);
  });
});
