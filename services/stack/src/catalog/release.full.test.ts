// A service takes up a release of its catalog that lacks a provider.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { entries, rangeMeanings } from '@strata/catalog';
import { openKeyring } from '@strata/log';
import { noteVerifier } from '@strata/receipts';
import { company, startHarness } from '../test/harness.ts';
import { sharedInternet } from '../test/shared.ts';
import { formatRelease } from './release.ts';
import { updateCatalog } from './update-catalog.ts';

it('a service evaluates old evidence by a new release: what differs is reclassified, and the status names the release', async () => {
  const internet = await sharedInternet();
  await using service = await startHarness({ internet, settings: { STRATA_CONFIRM_AFTER_HOURS: '0' } });
  const domain = company(internet, 4);
  await service.scan(domain);
  const get = async (path: string) => (await service.get(`/stack/v1/${path}`)).body as Record<string, unknown>;
  const providersOf = async () =>
    ((await get(`domains/${domain}`)).services as { provider_id: string }[]).map(({ provider_id }) => provider_id);
  const [lost = assert.fail('no service')] = await providersOf();
  const before = await get(`providers/${lost}`);
  assert.partialDeepStrictEqual(before.catalog, { file: `catalog/providers/${lost[0]}.json` });
  const status = async () => (await get('enrichment/status')).catalog as Record<string, string>;
  const bundled = await status();
  assert.equal(bundled.source, 'bundled');

  const { signer } = await openKeyring({
    directory: path.join(service.directory, 'release-keys'),
    now: () => new Date(),
  });
  const name = 'catalog.example';
  const remaining = (all: readonly unknown[], key: string) =>
    all.filter((each) => (each as Record<string, unknown>)[key] !== lost);
  const content = { providers: remaining(entries, 'id'), address_ranges: remaining(rangeMeanings, 'provider') };
  const text = formatRelease(content, new Date(), [
    { ...signer, name, publicKey: signer.publicKey, sign: signer.sign },
  ]);
  const deps = {
    store: service.running.store,
    verifiers: [noteVerifier(name, signer.publicKey)],
    now: () => new Date(),
  };
  const outcome = await updateCatalog(Buffer.from(text), deps);
  assert.equal(outcome.kind, 'new', JSON.stringify(outcome));
  assert.deepEqual(await status(), bundled, 'a process has one catalog from its start to its end');

  await service.restart();
  const { version, ...release } = await status();
  assert.deepEqual(release, { date: text.split('\n')[1], source: name });
  assert.notEqual(version, bundled.version);
  await service.scan(domain);
  assert.ok(!(await providersOf()).includes(lost));
  const changes = (await get(`domains/${domain}/changes`)).changes as { type: string; from: string }[];
  assert.ok(changes.length > 0 && changes.every(({ type }) => type === 'reclassified'), JSON.stringify(changes));
  assert.equal((await get(`providers/${lost}`)).catalog, null);
});
