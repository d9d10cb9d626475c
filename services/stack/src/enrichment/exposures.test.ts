import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readNvdRecord } from '@strata/advisories';
import { DomainIndex } from '@strata/analytics';
import { entries } from '@strata/catalog';
import { compileRulebook, loadCatalog } from '@strata/detect';
import { openStore } from '@strata/store';
import { temporaryDirectory } from '../test/harness.ts';
import { Exposures } from './exposures.ts';

const below = (product: string, version: string) => ({
  vulnerable: true,
  criteria: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`,
  versionEndExcluding: version,
});

describe('exposures', () => {
  it('take a version for as many as the catalog says that it may be', async () => {
    await using directory = await temporaryDirectory();
    await using store = await openStore(`sqlite:${path.join(directory.path, 'strata.db')}`);
    const id = 'CVE-2026-0001';
    const time = '2026-01-01T00:00:00';
    const cpeMatch = [below('apache:http_server', '2.4.50'), below('wordpress:wordpress', '6.4.1')];
    const configurations = [{ nodes: [{ operator: 'OR', cpeMatch }] }];
    const { record } = readNvdRecord({
      cve: { id, published: time, lastModified: time, descriptions: [], configurations },
    });
    assert.ok(record);
    await store.advisories.putRecords([record]);
    const rulebook = compileRulebook(loadCatalog(entries));
    await using exposures = await Exposures.open({ store, index: new DomainIndex(), rulebook });
    const reasonOf = (provider: string, version: string) => {
      const [exposure] = exposures.ofServices([{ provider, confidence: 'high', version, platform: null }]);
      return exposure && exposures.advisories.judgementOf(exposure.entry, provider, exposure.build).reason;
    };
    assert.equal(reasonOf('apache', '2.4.49'), 'in_range');
    assert.equal(reasonOf('apache', '2.4'), 'no_range');
    assert.equal(reasonOf('apache', '2.5'), undefined);
    assert.equal(reasonOf('wordpress', '6.4'), 'in_range');
  });
});
