// A service takes up a release of its catalog that lacks a provider, if it can.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { entries, rangeMeanings } from '@strata/catalog';
import { createLogger } from '@strata/http';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openConfiguredStore, readConfig, removeRelease } from '../index.ts';
import { serveUntil } from '../roles/serve.ts';
import type { Store } from '../store/index.ts';
import { company, settingsFor, sharedInternet, startHarness } from '../test/index.ts';
import { formatRelease } from './release.ts';
import { newSigner } from './test/signer.ts';
import { updateCatalog } from './update-catalog.ts';

const signer = newSigner();
/** Stores a release of the catalog without this provider, and returns its date. */
async function storeWithout(lost: string, store: Store, at = new Date()): Promise<string> {
  const remaining = (all: readonly unknown[], key: string) =>
    all.filter((each) => (each as Record<string, unknown>)[key] !== lost);
  const content = { providers: remaining(entries, 'id'), address_ranges: remaining(rangeMeanings, 'provider') };
  const bytes = Buffer.from(formatRelease(content, at, [signer]));
  const outcome = await updateCatalog(bytes, { store, verifiers: [signer.verifier], now: () => at });
  return outcome.kind === 'new' ? outcome.date : assert.fail(JSON.stringify(outcome));
}

it('a service evaluates old evidence by a new release: what differs is reclassified, and the status names the release', async () => {
  const internet = await sharedInternet();
  await using service = await startHarness({ internet, settings: { STRATA_SCAN_OPTIONS: 'confirm-hours=0' } });
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

  const date = await storeWithout(lost, service.running.store);
  assert.deepEqual(await status(), bundled, 'a process has one catalog from its start to its end');

  await service.restart();
  const { version, ...release } = await status();
  assert.deepEqual(release, { date, source: signer.name });
  assert.notEqual(version, bundled.version);
  await service.scan(domain);
  assert.ok(!(await providersOf()).includes(lost));
  const changes = (await get(`domains/${domain}/changes`)).changes as { type: string; from: string }[];
  assert.ok(changes.length > 0 && changes.every(({ type }) => type === 'reclassified'), JSON.stringify(changes));
  assert.equal((await get(`providers/${lost}`)).catalog, null);
});

it('a service starts again with each release, not with one that its own files do not fit, nor only once', async () => {
  const [internet, stopping, lines] = [await sharedInternet(), new AbortController(), [] as string[]];
  await using folder = await temporaryDirectory();
  const ranges = path.join(folder.path, 'own.csv');
  const writeRanges = () => writeFile(ranges, 'hetzner,203.0.113.0/24');
  await writeRanges();
  const config = readConfig({ ...settingsFor(internet, folder.path), STRATA_ADDRESS_RANGES: ranges });
  await using store = await openConfiguredStore(config);
  // One for each wait: for another release, but the third before a new attempt.
  const steps = [
    () => storeWithout('hetzner', store, new Date(Date.now() - 60_000)),
    () => Promise.all([rm(ranges), storeWithout('fastmail', store)]),
    writeRanges,
    () => removeRelease(store),
    async () => stopping.abort(),
  ];
  const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const wait = async () => void (await steps.shift()?.());
  await serveUntil(stopping.signal, { config, logger, wait });
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const notable = logged.filter(({ msg, level }) => msg === 'ready' || Number(level) > 30);
  const unused = 'the stored catalog release is not used';
  const expected = ['bundled', unused, 'bundled', unused, 'starting again failed', signer.name, 'bundled'];
  const noted = notable.map(({ msg, catalog }) => catalog ?? msg);
  assert.deepEqual(noted, expected);
});
