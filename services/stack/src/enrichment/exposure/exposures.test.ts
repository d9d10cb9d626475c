// The versions that domains show, and the advisories that affect them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readNvdRecord } from '@strata/advisories';
import { DomainIndex, memoryAnalytics } from '@strata/analytics';
import { rulebook } from '../../../../../tests/support/rulebook.ts';
import { openStore } from '../../store/index.ts';
import { Exposures } from './exposures.ts';
import { buildsShown, type ObservedService } from './product-uses.ts';

const below = (product: string, versionEndExcluding: string) => {
  return { vulnerable: true, criteria: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`, versionEndExcluding };
};

it('exposures take a version for as many as the catalog says that it may be', async () => {
  await using store = await openStore('sqlite::memory:');
  const time = '2026-01-01T00:00:00';
  const cpeMatch = [below('apache:http_server', '2.4.50'), below('wordpress:wordpress', '6.4.1')];
  const configurations = [{ nodes: [{ operator: 'OR', cpeMatch }] }];
  const cve = { id: 'CVE-2026-0001', published: time, lastModified: time, descriptions: [], configurations };
  const { record } = readNvdRecord({ cve });
  await store.advisories.putRecords([record ?? assert.fail()]);
  await using exposures = await Exposures.open({ store, analytics: memoryAnalytics(new DomainIndex()), rulebook });
  const reasonOf = (provider: string, version: string) => {
    const [exposure] = exposures.ofServices([{ provider, confidence: 'high', version, platform: null }]);
    return exposure && exposures.advisories.judgementOf(exposure.entry, provider, exposure.build).reason;
  };
  const reasons = ['2.4.49', '2.4', '2.5'].map((version) => reasonOf('apache', version));
  assert.deepEqual([...reasons, reasonOf('wordpress', '6.4')], ['in_range', 'no_range', undefined, 'in_range']);
});
it('uses follow answers that are later than the events, and an event during a read does not empty them', async () => {
  await using store = await openStore('sqlite::memory:');
  const index = new DomainIndex();
  const memory = memoryAnalytics(index);
  let duringRead = () => {};
  const builds = async (products: readonly string[]) => {
    const found = await memory.builds(products);
    duringRead();
    return found;
  };
  await using exposures = await Exposures.open({ store, analytics: { ...memory, builds }, rulebook });
  const used = async () => (await exposures.uses(['wordpress'])).get('wordpress')?.map(({ version }) => version);
  const versions = [];
  for (const [seq, version] of [
    [2, '6.4'],
    [4, '6.5'],
  ] as const) {
    exposures.drop(seq - 1, ['wordpress']);
    exposures.drop(seq, ['wordpress']);
    versions.push(await used());
    const rest = { scannedAt: 0, state: 'active', sector: 'unknown', posture: 0, holders: 0, score: null } as const;
    index.put({
      ...rest,
      id: 1,
      name: 'a.com',
      firstSeen: 0,
      services: [['web_platform', 'wordpress', 'high', version, null]],
    });
    for (index.position = { seq: seq - 1, scanId: 0 }; ; index.position = { seq, scanId: 0 }) {
      versions.push(await used());
      if (index.position.seq === seq) break;
    }
  }
  assert.deepEqual(versions, [[], ['6.4'], ['6.4'], ['6.4'], ['6.5'], ['6.5']]);
  duringRead = () => exposures.drop(5, ['wordpress']);
  exposures.drop(5, ['wordpress']);
  assert.deepEqual(await used(), ['6.5']);
});
it('the build of a product is the version with the highest confidence, the first of several, and none at low confidence', () => {
  type Level = ObservedService['confidence'];
  const service = (confidence: Level, version: string | null, platform: string | null = null) => {
    return { provider: 'php', confidence, version, platform };
  };
  const shown = (...services: ObservedService[]) => buildsShown(services).get('php');
  const build = (version: string | null, platform: string | null = null) => ({ version, platform });
  assert.deepEqual(shown(service('medium', '8.1'), service('high', '8.2')), build('8.2'));
  assert.deepEqual(shown(service('high', '8.1'), service('high', '8.2')), build('8.1'));
  assert.deepEqual(shown(service('high', null), service('medium', '8.2', 'win64')), build('8.2', 'win64'));
  assert.deepEqual(shown(service('high', null, 'win64')), build(null));
  assert.deepEqual(shown(service('high', '')), build(null));
  assert.equal(shown(service('low', '8.1')), undefined);
  assert.deepEqual(shown(service('low', '8.1'), service('high', null)), build(null));
});
