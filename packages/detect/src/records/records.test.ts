// What a probe observes of each kind, and the intervals that observations leave.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { tagIds } from '../evidence/tag-ids.ts';
import { type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';
import { observedRecords } from './observed-records.ts';
import { planRecords, type RecordInterval } from './plan-records.ts';
import { MAX_VALUE_LENGTH, type RecordKind, recordValue } from './record-kinds.ts';

const page = (tags: readonly string[], metas = {}) => ({ page: { tags, metas } });
const DAY = 86_400_000;

for (const [kind, parts, values] of casesOf<[RecordKind, EvidenceParts, string[] | null][]>(
  'detect',
  'observed records',
))
  it(`observed records of ${kind} are stored in one form`, () => {
    const verification = ['MS=ms12345678', 'p:domain_verify=abcdef'];
    const spf = ['%{d}.x', 'a.example', 'b.example'];
    const expected = { verification, spf, favicon: undefined };
    const { values: found, unmeasured } = observedRecords(evidenceOf({ ...{ tls: {}, http: page([]) }, ...parts }));
    assert.deepEqual(found.get(kind), values ?? expected[kind as 'spf']);
    for (const value of found.get(kind) ?? []) assert.equal(recordValue(kind, value), value, 'and stay as they are');
    assert.equal(unmeasured.has(kind), false);
  });

it('observed records of failed look-ups are unmeasured, of a domain without a site absent, and hostile ones bounded', () => {
  const failed = observedRecords(evidenceOf({ ns: 'timeout', a: 'servfail', http: { status: 'blocked' } }));
  const kinds =
    'ns ns_set address network asn cname verification certificate_name certificate_issuer tag favicon redirect';
  assert.deepEqual([...failed.unmeasured], kinds.split(' '));
  assert.deepEqual([...observedRecords(evidenceOf({ a: [], http: { status: 'skipped', url: null } })).unmeasured], []);
  const txt = Array.from({ length: 200 }, (_, i) => `${i}\0\ud800${'x'.repeat(9_000)}`);
  const kept = observedRecords(evidenceOf({ txt })).values.get('txt') ?? [];
  assert.equal(kept.length, 32);
  assert.ok(kept.every((text) => text.length <= MAX_VALUE_LENGTH && text.isWellFormed() && !text.includes('\0')));
  assert.equal(new Set(kept).size, 32);
});
it('observed records of tags are ids in scripts and addresses, not in prose', () => {
  const html = `<script>x('GTM-AB12CD');gtag("config","G-ABCDE12345");fbq('init', '1234567890123')</script>
      <img src="https://www.facebook.com/tr?id=1234567890123&ev=x"><iframe src="//x/ns.html?id=GTM-AB12CD"></iframe>
      <p>model G-ABCDE99999 and 'UA-1' or 'GTM-lower'`;
  assert.deepEqual(tagIds(html), ['GTM-AB12CD', 'G-ABCDE12345', 'meta-pixel-1234567890123']);
  const many = Array.from({ length: 99 }, (_, i) => `'AW-${100_000_000 + i}'`).join();
  assert.equal(tagIds(many).length, 32);
});

describe('intervals of records', () => {
  /** The intervals after scans on days, each with the values of its look-up; `null` is one that failed. */
  const after = (kind: 'mx' | 'address', days: Readonly<Record<number, readonly string[] | null>>) => {
    let intervals: readonly RecordInterval[] = [];
    let lastScannedAt: number | null = null;
    for (const [day, values] of Object.entries(days)) {
      const given =
        kind === 'mx' ? { mx: values?.map((host) => `1 ${host}`) ?? 'timeout' } : { a: values ?? 'timeout' };
      const at = Number(day) * DAY;
      const observed = observedRecords(evidenceOf(given as EvidenceParts));
      const isFirst = lastScannedAt === null;
      const { put, dropped } = planRecords({ intervals, observed }, { at, lastScannedAt, isFirst });
      const keyOf = (each: RecordInterval) => `${each.kind} ${each.value} ${each.firstSeen}`;
      const rows = new Map([...intervals, ...put].map((each) => [keyOf(each), each]));
      for (const each of dropped) rows.delete(keyOf(each));
      [intervals, lastScannedAt] = [[...rows.values()], at];
    }
    const inDays = (time: number | null) => (time === null ? null : time / DAY);
    const own = intervals.filter((each) => each.kind === kind);
    return own.map(({ value, firstSeen, lastSeen, endedAt }) => [value, ...[firstSeen, lastSeen, endedAt].map(inDays)]);
  };

  it('begin, end at the first look-up without the value, and begin again', () =>
    assert.deepEqual(after('mx', { 1: ['a'], 2: ['a'], 4: ['b'], 6: ['a', 'b'] }), [
      ['a', 1, 2, 4],
      ['b', 4, null, null],
      ['a', 6, null, null],
    ]));
  it('are not ended by a failure, which only stops their last observation', () => {
    assert.deepEqual(after('mx', { 1: ['a'], 2: null, 3: null }), [['a', 1, 1, null]]);
    assert.deepEqual(after('mx', { 1: ['a'], 2: null, 3: ['a'] }), [['a', 1, null, null]]);
    assert.deepEqual(after('mx', { 1: ['a'], 2: null, 3: [] }), [['a', 1, 1, 3]]);
  });
  it('have one of no value until the kind is first measured, which many ended values do not drop', () => {
    assert.deepEqual(after('mx', { 1: null, 2: null, 3: ['a'], 4: null }), [
      ['', 1, 1, 3],
      ['a', 3, 3, null],
    ]);
    const moves = Object.fromEntries(Array.from({ length: 520 }, (_, i) => [i + 2, [`${i}.example`]]));
    assert.deepEqual(after('mx', { 1: null, ...moves })[0], ['', 1, 1, 2]);
  });
  it('of an address that returns within a month go on, and the oldest of many are dropped', () => {
    const [a, b] = ['192.0.2.1', '192.0.2.2'];
    assert.deepEqual(after('address', { 1: [a], 2: [b], 20: [a], 60: [b] }), [
      [a, 1, 20, 60],
      [b, 2, 2, 20],
      [b, 60, null, null],
    ]);
    const moves = Object.fromEntries(Array.from({ length: 520 }, (_, i) => [i + 1, [`${i}.example`]]));
    const kept = after('mx', moves);
    assert.deepEqual([kept.length, kept[0]?.[0]], [501, '19.example']);
  });
});
