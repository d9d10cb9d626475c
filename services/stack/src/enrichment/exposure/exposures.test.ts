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
it('uses follow answers that are later than the events, also where an event arrives during the read', async () => {
  await using store = await openStore('sqlite::memory:');
  const index = new DomainIndex();
  const memory = memoryAnalytics(index);
  const builds = async (products: readonly string[]) => {
    const found = await memory.builds(products);
    if (index.position.seq === 3) exposures.drop(3, products);
    return found;
  };
  await using exposures = await Exposures.open({ store, analytics: { ...memory, builds }, rulebook });
  const usersAt = async (seq: number) => {
    index.position = { seq, scanId: 0 };
    return (await exposures.uses(['wordpress'])).get('wordpress')?.length;
  };
  exposures.drop(2, ['wordpress']);
  const users = [await usersAt(1)];
  const services = [['web_platform', 'wordpress', 'high', '6.4', null]] as const;
  const rest = { state: 'active', sector: 'unknown', posture: 0, holders: 0, score: null, services } as const;
  index.put({ id: 1, name: 'a.com', scannedAt: 0, ...rest });
  users.push(await usersAt(2));
  exposures.drop(3, ['wordpress']);
  assert.deepEqual([...users, await usersAt(3)], [0, 1, 1]);
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
