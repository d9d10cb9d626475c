// What vectors/spf.json does not say of policies: who is named, how far they are followed, and hostile records.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { Lookup } from '../evidence/evidence.ts';
import { evidenceOf } from '../test/evidence-of.ts';
import { spfNames, spfOf } from './policy.ts';
import { spfNamesToQuery } from './reach.ts';
import { parseRecord } from './record.ts';
import { spfTargets } from './senders.ts';
import { parseShared } from './shared-records.ts';
import type { SpfPolicy } from './types.ts';

const policyOf = (txt: readonly string[], spf?: Record<string, readonly string[]>): SpfPolicy =>
  spfOf(evidenceOf({ domain: 'example.com', txt, ...(spf ? { policies: { spf } } : {}) }));

/** Of the senders that the domain itself names. */
const hostsOf = ({ senders }: SpfPolicy) => senders.filter(({ depth }) => depth === 0).map(({ host }) => host);

it('an SPF policy names hosts as the DNS compares them, macros as they are', () => {
  const policy = policyOf(['v=spf1 include:_spf.Sendy.TEST. exists:%{i}.spf.guard.test -all']);
  assert.deepEqual(hostsOf(policy), ['_spf.sendy.test', '%{i}.spf.guard.test']);
  assert.ok(policy.isDynamic);
});
it('an SPF policy names a redirect only where no all makes it void', () => {
  assert.deepEqual(hostsOf(policyOf(['v=spf1 redirect=_spf.a.test'])), ['_spf.a.test']);
  assert.deepEqual(hostsOf(policyOf(['v=spf1 redirect=_spf.a.test -all'])), []);
});
it('an SPF policy names those that it leads to by includes and redirects, each once, without macros', () => {
  const record = 'v=spf1 include:A.test. include:a.test exists:x.test a:y.test include:%{d}.test redirect=b.test';
  assert.deepEqual(spfNames(['other', record, 'v=spf1 redirect=c.test ~all']), ['a.test', 'b.test']);
});
it('an SPF policy names senders of included domains deeper than its own', () => {
  const policy = policyOf(
    ['v=spf1 include:_spf.example.com include:reseller.test -all'],
    casesOf<Record<string, string[]>>('detect', 'included policies'),
  );
  const depths = spfTargets(policy).map(({ host, depth }) => `${depth} ${host}`);
  const expected = ['0 _spf.example.com', '0 reseller.test', '0 sendy.test', '1 micro.test', '2 deep.micro.test'];
  assert.deepEqual(depths, expected);
  assert.deepEqual([policy.evaluation, policy.lookups, policy.authorizedIpv4], ['valid', 6, 2]);
});
it('an SPF policy reports a void look-up with its record and term', () =>
  assert.deepEqual(policyOf(['v=spf1 mx -all']).problems, [{ code: 'void', at: 'example.com', term: 'mx' }]));
it('an SPF policy names each host once, by the nearest way', () => {
  const included = { 'far.test': ['v=spf1 include:near.test -all'], 'near.test': ['v=spf1 -all'] };
  const policy = policyOf(['v=spf1 include:far.test include:near.test -all'], included);
  const targets = spfTargets(policy).map(({ host, depth, from }) => `${depth} ${host} of ${from}`);
  assert.deepEqual(targets, ['0 far.test of example.com', '0 near.test of example.com']);
});

const named = (count: number, recordOf: (i: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}.test`, [recordOf(i)]]));
it('a hostile SPF policy of 64 KiB of includes comes to a bounded list', () => {
  const includes = Array.from({ length: 4000 }, (_, i) => `include:h${i}.test`).join(' ');
  const { result, senders, lookups, problems } = policyOf([`v=spf1 ${includes}`]);
  assert.deepEqual([result, senders.length, lookups], ['permerror', 64, 64]);
  assert.ok(problems.length <= 16);
});
it('a hostile SPF policy of endless includes ends', () => {
  const spf = named(500, (i) => `v=spf1 include:n${i + 1}.test include:n0.test ~all`);
  const { result, lookups } = policyOf(['v=spf1 include:n0.test -all'], spf);
  assert.deepEqual([result, lookups], ['permerror', 64]);
});
it('a hostile SPF policy of 5,000 networks in every include is counted in time', () => {
  const wide = `v=spf1 ${Array.from({ length: 4000 }, (_, i) => `ip4:10.${i >> 8}.${i & 255}.1`).join(' ')} `;
  const spf = named(64, (i) => `${wide}include:n${i + 1}.test -all`);
  const start = performance.now();
  assert.equal(policyOf(['v=spf1 include:n0.test -all'], spf).result, 'permerror');
  assert.ok(performance.now() - start < 20_000);
});
it('a hostile SPF policy of 64 KiB of anything takes time in proportion', () => {
  const start = performance.now();
  for (const piece of ['a', '%', '%{', '/', 'a:', '.', '=', 'ip6::', ' x=%{d}', 'a/1//1'])
    policyOf([`v=spf1 ${piece.repeat(65_536 / piece.length)}`]);
  assert.ok(performance.now() - start < 20_000);
});
it('a hostile SPF policy never throws, and reports only text that can be stored', () =>
  holds(100, [fc.string({ unit: codePoint })], (text) => {
    const { problems } = policyOf([`v=spf1 ${text}`]);
    return problems.every(({ term }) => term.isWellFormed() && !term.includes('\u0000'));
  }));
it('a hostile SPF policy with a term longer than a name is refused, and only a name’s length is checked', () => {
  assert.equal(policyOf([`v=spf1 include:x.${'a'.repeat(253)} -all`]).result, 'permerror');
  const startedAt = process.cpuUsage().user;
  assert.equal(policyOf([`v=spf1 include:a.${'a'.repeat(60_000)}! -all`]).result, 'permerror');
  // A second is a thousand times what it takes, and a tenth of what it took when each position was tried.
  assert.ok(process.cpuUsage().user - startedAt < 1_000_000);
});

const found = (record: string): Lookup<string> => ({ status: 'found', records: [record], aliases: [] });
const failed: Lookup<string> = { status: 'timeout', records: [], aliases: [] };

/** Follows a policy to its end, as a probe does; `recordOf` is what each name answers. */
function follow(record: string, recordOf: (name: string) => string): string[] {
  const known: Record<string, Lookup<string>> = {};
  for (let round = 0; round < 100; round++)
    for (const name of spfNamesToQuery([record], known)) known[name] = found(recordOf(name));
  assert.deepEqual(spfNamesToQuery([record], known), [], 'does not end');
  return Object.keys(known);
}

it('names of an SPF policy to ask for are those of the first level that is not known, each once', () => {
  const record = 'v=spf1 include:a.test include:b.test include:A.test. -all';
  assert.deepEqual(spfNamesToQuery([record], {}), ['a.test', 'b.test']);
  const known = { 'a.test': found('v=spf1 include:c.test -all') };
  assert.deepEqual(spfNamesToQuery([record], known), ['b.test']);
  assert.deepEqual(spfNamesToQuery([record], { ...known, 'b.test': failed }), ['c.test']);
});
it('names of an SPF policy to ask for do not exist behind a failed name, without a policy, or for names that cannot be queried', () => {
  assert.deepEqual(spfNamesToQuery(['v=spf1 include:a.test -all'], { 'a.test': failed }), []);
  assert.deepEqual(spfNamesToQuery(['include:a.test'], {}), []);
  assert.deepEqual(spfNamesToQuery(['v=spf1 include:%{i}.a.test include:local redirect=é.test'], {}), []);
  assert.deepEqual(spfNamesToQuery(['v=spf1 include:constructor.test'], { 'x.test': failed }), ['constructor.test']);
});
it('names of an SPF policy to ask for are 20 of a tree without end, 10 of a chain, and none after', () => {
  const tree = follow('v=spf1 include:x.test', (name) => `v=spf1 include:a${name} include:b${name}`);
  const chain = follow('v=spf1 include:x.test', (name) => `v=spf1 include:a${name}`);
  const wide = Array.from({ length: 60 }, (_, i) => `include:n${i}.test`).join(' ');
  const lengths = [tree, chain, follow(`v=spf1 ${wide}`, () => 'v=spf1 -all')].map(({ length }) => length);
  assert.deepEqual(lengths, [20, 10, 20]);
});
it('names of an SPF policy to ask for end where policies lead to each other', () => {
  const known = follow('v=spf1 include:a.test', (name) => `v=spf1 include:${name === 'a.test' ? 'b' : 'a'}.test`);
  assert.deepEqual(known, ['a.test', 'b.test']);
});
it('records of included domains are parsed once, and correctly whatever their number and length', () => {
  const record = 'v=spf1 ip4:192.0.2.0/24 include:a.test ~all';
  assert.deepEqual(parseShared(record), parseRecord(record));
  assert.equal(parseShared(record), parseShared(record));
  for (let i = 0; i < 3000; i++)
    assert.equal(parseShared(`v=spf1 include:h${i}.test -all`).mechanisms[0]?.text, `include:h${i}.test`);
  const long = `v=spf1 ${'ip4:192.0.2.1 '.repeat(100)}-all`;
  assert.deepEqual(parseShared(long), parseRecord(long));
  assert.notEqual(parseShared(long), parseShared(long));
});
