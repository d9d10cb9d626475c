import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readNvdRecord } from '@strata/advisories';
import { DomainIndex } from '@strata/analytics';
import { openStore } from '@strata/store';
import { rulebook } from '../test/recorded-scans.ts';
import { Exposures } from './exposures.ts';

const below = (product: string, version: string) => ({
  vulnerable: true,
  criteria: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`,
  versionEndExcluding: version,
});

describe('exposures', () => {
  it('take a version for as many as the catalog says that it may be', async () => {
    await using store = await openStore('sqlite::memory:');
    const time = '2026-01-01T00:00:00';
    const cpeMatch = [below('apache:http_server', '2.4.50'), below('wordpress:wordpress', '6.4.1')];
    const configurations = [{ nodes: [{ operator: 'OR', cpeMatch }] }];
    const cve = { id: 'CVE-2026-0001', published: time, lastModified: time, descriptions: [], configurations };
    const { record } = readNvdRecord({ cve });
    await store.advisories.putRecords([record ?? assert.fail()]);
    await using exposures = await Exposures.open({ store, index: new DomainIndex(), rulebook });
    const reasonOf = (provider: string, version: string) => {
      const [exposure] = exposures.ofServices([{ provider, confidence: 'high', version, platform: null }]);
      return exposure && exposures.advisories.judgementOf(exposure.entry, provider, exposure.build).reason;
    };
    const reasons = ['2.4.49', '2.4', '2.5'].map((version) => reasonOf('apache', version));
    assert.deepEqual([...reasons, reasonOf('wordpress', '6.4')], ['in_range', 'no_range', undefined, 'in_range']);
  });
});
