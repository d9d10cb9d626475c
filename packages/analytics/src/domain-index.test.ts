import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import fc from 'fast-check';
import { DomainIndex, type IndexedDomain } from './domain-index.ts';
import { IndexBuilder } from './index-builder.ts';
import { STATES } from './terms.ts';
import { checkIndex } from './test/check-index.ts';
import { manyDomains, type Step, steps } from './test/random-domains.ts';

function take(index: DomainIndex, step: Step) {
  if (step.kind === 'put') return index.put(step.domain);
  index.touch(step.id, step.scannedAt);
  return undefined;
}

/** What a plain map keeps of the same steps. */
function follow(known: Map<number, IndexedDomain>, step: Step): void {
  if (step.kind === 'put') {
    const { domain } = step;
    const scannedAt = Math.max(domain.scannedAt, known.get(domain.id)?.scannedAt ?? 0);
    known.set(domain.id, { ...domain, scannedAt });
  } else {
    const domain = known.get(step.id);
    if (domain && step.scannedAt > domain.scannedAt) known.set(step.id, { ...domain, scannedAt: step.scannedAt });
  }
}

/** By category, then by provider: whoever told them in which order. */
function inOrder(services: IndexedDomain['services']): IndexedDomain['services'] {
  const key = ([category, provider]: (typeof services)[number]) => `${CATEGORIES.indexOf(category)} ${provider}`;
  return services.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The columns, against what was put; sets and counts against the columns. */
function check(index: DomainIndex, known: ReadonlyMap<number, IndexedDomain>): void {
  assert.equal(index.size, known.size);
  for (const domain of known.values()) {
    assert.equal(index.names.name(domain.id), domain.name);
    assert.equal(index.state(domain.id), domain.state);
    assert.equal(index.sector(domain.id), domain.sector === 'a-sector-of-tomorrow' ? 'unknown' : domain.sector);
    assert.deepEqual(index.services(domain.id), inOrder(domain.services));
    const { scannedAt, posture, holders, score } = index.columns.facts(domain.id);
    assert.deepEqual(
      { scannedAt, posture, holders, score },
      { scannedAt: domain.scannedAt, posture: domain.posture, holders: domain.holders, score: domain.score },
    );
  }
  checkIndex(index);
}

describe('the index', () => {
  it('is right after each step, whatever is put, put again and touched', () => {
    fc.assert(
      fc.property(steps({ domains: 6, most: 12 }), (all) => {
        const index = new DomainIndex();
        const known = new Map<number, IndexedDomain>();
        for (const step of all) {
          take(index, step);
          follow(known, step);
          check(index, known);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('is right after many steps over many domains', () => {
    fc.assert(
      fc.property(steps({ domains: 80, most: 400 }), (all) => {
        const index = new DomainIndex();
        const known = new Map<number, IndexedDomain>();
        for (const step of all) {
          take(index, step);
          follow(known, step);
        }
        check(index, known);
      }),
      { numRuns: 10 },
    );
  });

  it('built at once is right, and goes on being right', () => {
    fc.assert(
      fc.property(manyDomains(80), (domains) => {
        const half = domains.length >> 1;
        const builder = new IndexBuilder();
        for (const domain of domains.slice(0, half)) builder.put(domain);
        const index = builder.build({ seq: 7, scanId: 9 });
        assert.deepEqual(index.position, { seq: 7, scanId: 9 });
        const known = new Map(domains.slice(0, half).map((domain) => [domain.id, domain]));
        check(index, known);
        // Each known one becomes what another is, then the others come.
        const changed = domains
          .slice(0, half)
          .map(({ id, name }, i) => ({ ...(domains[half + i] as IndexedDomain), id, name }));
        for (const domain of [...changed, ...domains.slice(half)]) {
          take(index, { kind: 'put', domain });
          follow(known, { kind: 'put', domain });
        }
        check(index, known);
      }),
      { numRuns: 15 },
    );
  });

  it('tells what a put touched: all providers and categories before and after it', () => {
    fc.assert(
      fc.property(steps({ domains: 5, most: 30 }), (all) => {
        const index = new DomainIndex();
        const known = new Map<number, IndexedDomain>();
        for (const step of all) {
          const touched = take(index, step);
          if (step.kind === 'put') {
            const before = known.get(step.domain.id);
            const services = [...(before?.services ?? []), ...step.domain.services];
            assert.equal(touched?.isNew, before === undefined);
            assert.deepEqual(
              touched?.providers.toSorted(),
              [...new Set(services.map(([, provider]) => provider))].sort(),
            );
            assert.deepEqual(
              touched?.categories.toSorted(),
              [...new Set(services.map(([category]) => category))].sort(),
            );
          }
          follow(known, step);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('counts domains by state, and domains and providers by category', () => {
    fc.assert(
      fc.property(manyDomains(40), (domains) => {
        const index = new DomainIndex();
        for (const domain of domains) index.put(domain);
        for (const state of STATES) {
          assert.equal(index.domainsByState()[state], domains.filter((domain) => domain.state === state).length);
        }
        for (const category of CATEGORIES) {
          const using = domains.filter(({ services }) => services.some(([each]) => each === category));
          const providers = using.flatMap(({ services }) => services.filter(([each]) => each === category));
          assert.deepEqual(index.categorySize(category), {
            domains: using.length,
            providers: new Set(providers.map(([, provider]) => provider)).size,
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  it('ignores a touch of a domain it does not know', () => {
    const index = new DomainIndex();
    index.touch(5, 1);
    assert.equal(index.size, 0);
    checkIndex(index);
  });
});
