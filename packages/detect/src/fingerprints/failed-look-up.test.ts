// A failed look-up makes no change, community sets included: what requires, excludes or implies others, and long pages.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { detect } from '../detect.ts';
import { type KnownService, reconcile } from '../history.ts';
import { extractPage } from '../page.ts';
import { SOURCES } from '../profile.ts';
import type { Rulebook } from '../rulebook.ts';
import { rulebookWith } from '../test/community-set.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';

const DAY = 86_400_000;
const options = { confirmAfterMs: DAY / 4, measuredBefore: new Set(SOURCES) };
const rulebook = rulebookWith({
  Alpha: { cats: [31], dns: { CNAME: 'alpha-edge' }, implies: 'Alpha Cloud' },
  'Alpha Cloud': { cats: [62], cookies: { alpha: '' } },
  Beta: { cats: [31], headers: { 'x-beta': '' }, excludes: 'Alpha', requires: 'Delta' },
  Gamma: { cats: [62], dns: { CNAME: 'alpha-edge' }, requires: ['Beta', 'EDGY'] },
  Delta: { cats: [88], dns: { TXT: '^delta-site', NS: 'delta-names' }, implies: 'Epsilon' },
  Epsilon: { cats: [16], meta: { epsilon: '' } },
  Postbox: { cats: [75], dns: { MX: 'postbox' }, requiresCategory: [16] },
  Left: { cats: [1], dns: { TXT: '^left\\;confidence:50' }, excludes: 'Right' },
  Right: { cats: [1], dns: { TXT: '^left\\;confidence:10' }, cookies: { right: '' }, excludes: 'Left' },
});

const some = <T>(...values: T[]) => fc.subarray(values);
const one = <T>(...values: T[]) => fc.constantFrom<T[]>(...values);
const parts: fc.Arbitrary<EvidenceParts> = fc.record({
  ns: some('ns1.delta-names.test', 'ns1.dnsco.test'),
  mx: some('10 mx.postbox.test', '10 aspmx.l.googly.test'),
  txt: some('delta-site=1', 'left=1'),
  www: one<NonNullable<EvidenceParts['www']>>('empty', aliasTo('x.alpha-edge.test'), aliasTo('x.edgy.test')),
  addresses: one([{ asn: 64499 }], [{ asn: 64511 }]),
  http: fc.record({
    headers: one<Record<string, string>>({}, { 'x-beta': '1' }, { 'x-beta': '1', 'x-edgy-ray': '1' }),
    cookies: some('right', 'alpha'),
    page: fc.record({ metas: one<Record<string, string>>({}, { epsilon: '1' }) }),
  }),
});

const failures: Record<string, (whole: EvidenceParts) => EvidenceParts> = {
  'the page': () => ({ http: { status: 'timeout', statusCode: null, url: null } }),
  'a page behind a wall': () => ({ http: { status: 'blocked', statusCode: 403, headers: { date: 'today' } } }),
  'a page with an error': () => ({ http: { statusCode: 503 } }),
  txt: () => ({ txt: 'timeout' }),
  ns: () => ({ ns: 'servfail' }),
  www: () => ({ www: 'timeout' }),
  'all but the page': () => ({ ns: 'timeout', mx: 'timeout', txt: 'timeout', www: 'timeout', addresses: [] }),
};

describe('with a community set, a look-up that fails again and again makes no change:', () => {
  for (const [name, fail] of Object.entries(failures)) {
    it(name, () => {
      fc.assert(
        fc.property(parts, (whole) => {
          const failed = { ...whole, ...fail(whole) };
          assert.deepEqual(changesOver([whole, whole, failed, failed, failed, whole, whole], rulebook), []);
        }),
        { numRuns: 150 },
      );
    });
  }

  it('who is excluded by what a page shows does not come when the page fails', () => {
    const whole = { txt: ['delta-site=1'], www: aliasTo('x.alpha-edge.test'), http: { headers: { 'x-beta': '1' } } };
    const seen = detect(evidenceOf(whole), rulebook).services.map(({ provider }) => provider);
    assert.deepEqual([seen.includes('beta'), seen.includes('alpha')], [true, false]);
    const { services, roles } = detect(evidenceOf({ ...whole, ...failures['the page']?.(whole) }), rulebook);
    assert.ok(!services.some(({ provider }) => provider === 'alpha' || provider === 'alpha-cloud'));
    assert.equal(roles.edge, 'unmeasured');
  });

  it('a page that grows beyond what is searched of it', () => {
    const filler = Array.from({ length: 6 }, (_, i) => [
      `Fat ${i}`,
      { cats: [5], html: [`filler[a-z0-9 ]{1,150}x${i}`] },
    ]);
    const last = { cats: [5], html: ['last-marker-word[^>]{1,200}yy'] };
    const book = rulebookWith({ ...Object.fromEntries(filler), Last: last });
    const pageOf = (words: number): EvidenceParts => {
      const html = `${'filler '.repeat(words)}<p>last-marker-word <b title="yy">`;
      const page = extractPage(html, { url: 'https://example.com/', isTruncated: false, keepSource: true });
      return { http: { page } };
    };
    const [short, long] = [pageOf(0), pageOf(9000)];
    assert.deepEqual(
      detect(evidenceOf(short), book).services.map(({ provider }) => provider),
      ['last'],
    );
    assert.equal(detect(evidenceOf(long), book).sources.html, 'unmeasured');
    assert.deepEqual(changesOver([short, short, long, long, long], book), []);
  });
});

/** Changes after the first observation, which begins the history, a day apart. */
function changesOver(observations: readonly EvidenceParts[], book: Rulebook) {
  let known: readonly KnownService[] = [];
  return observations.flatMap((observed, day) => {
    const observedAt = new Date(Date.parse('2026-01-01T00:00:00Z') + day * DAY).toISOString();
    const measuredBefore = day === 0 ? new Set<never>() : options.measuredBefore;
    const profile = detect({ ...evidenceOf(observed), observedAt }, book);
    const { open, changes } = reconcile(known, profile, { ...options, measuredBefore });
    known = open;
    return changes.map(({ type, from, to }) => ({ day, type, from, to }));
  });
}
