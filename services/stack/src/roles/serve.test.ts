// The service as one of several processes: key rotation, metrics, logs, and the stop.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { rotateSigningKeys } from '@strata/log';
import { formatVerifierKey, publishedLedger, vouchedKeys } from '@strata/receipts';
import { until, untilAnswer } from '../../../../tests/support/until.ts';
import { openConfiguredStore, readConfig, startStack } from '../index.ts';
import { company, settingsFor, smallInternet, startHarness } from '../test/harness.ts';
import { sharedInternet, sharedService } from '../test/shared.ts';
import { openStream } from '../test/stream-reader.ts';

const silent = createLogger({ level: 'silent' });
const service = await sharedService();
const profilePath = (name: string) => `/stack/v1/domains/${name}`;

describe('a running service', () => {
  const keySet = async () =>
    (await service.ask('/.well-known/stack-keys.json')).body as unknown as {
      keys: { kid: string; status: string }[];
      ledger: { verifier_keys: string[]; rotations?: string[] };
    };

  it('runs the largest requests before it listens, without a receipt, cache entry or count', async () => {
    await service.scan(company(service.internet, 2));
    const leaves = service.running.app.ledger.log.size;
    service.log.length = 0;
    await service.restart();
    const lines = service.log.map((line) => JSON.parse(line) as { level: number; msg: string });
    const notable = lines.filter(({ msg, level }) => /warm-up/.test(msg) || level >= 40).map(({ msg }) => msg);
    assert.deepEqual(notable, ['warm-up requests done']);
    const { app, answers } = service.running;
    // But its health, which it answers once at each start.
    assert.deepEqual([app.ledger.log.size, answers.size], [leaves + 1, 1]);
  });
  it('takes up signing keys that another process rotated; the old ones stay in the key set', async () => {
    const domain = company(service.internet, 1);
    const old = await service.get(profilePath(domain));
    const [before] = (await keySet()).keys;
    assert.equal(old.body.provenance.key_id, before?.kid);
    const checkpoint = (await service.ask('/ledger/checkpoint')).text;
    const pinned = publishedLedger(await keySet()).verifiers;

    const [newKeyId] = await rotateSigningKeys(service.directory, () => new Date(), {
      origin: service.running.app.config.ledgerOrigin,
    });
    // The two keyrings are read one after the other, within about a second.
    const hasBoth = (set: Awaited<ReturnType<typeof keySet>>) =>
      set.keys.length === 2 && set.ledger.verifier_keys.length === 2;
    const { keys, ledger } = await untilAnswer('both key sets', keySet, hasBoth);
    const states = keys.map(({ kid, status }) => `${kid} ${status}`);
    assert.deepEqual(states, [`${newKeyId} current`, `${before?.kid} retired`]);
    await service.scan(domain);
    const fresh = await service.get(profilePath(domain));
    assert.equal(fresh.body.provenance.key_id, newKeyId);
    // The head of the log is signed again, and the old receipt is still found under it.
    const vouched = await vouchedKeys(pinned, ledger.rotations ?? []);
    const verifierKeys = vouched.map((key) => formatVerifierKey(key));
    assert.deepEqual(verifierKeys, ledger.verifier_keys.toReversed());
    assert.notEqual((await service.ask('/ledger/checkpoint')).text.split('\n').at(-2), checkpoint.split('\n').at(-2));
    assert.equal((await service.ask(`/ledger/receipts/${old.body.provenance.ledger_receipt_id}`)).status, 200);
  });
  it('signs nothing while the clock is before its signing key, is not ready, and goes on when the clock is right', async (t) => {
    const domain = company(service.internet, 3);
    await service.scan(domain);
    service.log.length = 0;
    const ready = async () => (await service.ask('/ready')).body as unknown as { problems?: { ledger?: string } };
    const isLogged = (text: string) => () => service.log.some((line) => line.includes(text));
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 86_400_000 });
    try {
      const report = await untilAnswer('not ready', ready, ({ problems }) => problems !== undefined);
      assert.match(report.problems?.ledger ?? '', /^cannot sign: the clock is before \d{4}-.+: set the clock right$/);
      const { status, body } = await service.get(profilePath(domain));
      assert.deepEqual([status, body.code, body.provenance], [503, 'unavailable', undefined]);
      await until(isLogged('signing receipts failed'), { what: 'the failure is logged' });
    } finally {
      t.mock.timers.reset();
    }
    await untilAnswer('ready', ready, ({ problems }) => problems === undefined);
    assert.equal((await service.get(profilePath(domain))).status, 200);
    await until(isLogged('signing receipts recovered'), { what: 'the recovery is logged' });
  });
  it('refuses a key that another process revoked, and ends its streams', { timeout: 120_000 }, async () => {
    const config = readConfig(settingsFor(service.internet, service.directory));
    const key = await service.newKey();
    const ask = () => service.get(profilePath(company(service.internet, 1)), { headers: { 'x-stack-key': key } });
    assert.equal((await ask()).status, 200);
    await using store = await openConfiguredStore(config);
    const id = (await store.keys.list()).at(-1)?.id ?? '';
    const stream = `${service.base}/stack/v1/stream`;
    await using revoked = await openStream(stream, { key });
    await using other = await openStream(stream, { key: await service.newKey() });
    let isOtherOver = false;
    void other.ended.then(() => {
      isOtherOver = true;
    });
    assert.ok(await store.keys.revoke(id));
    await revoked.ended;
    assert.equal(isOtherOver, false);
    assert.equal((await untilAnswer('the refusal', ask, ({ status }) => status !== 200)).body.code, 'invalid_key');
  });
  it('serves metrics on a port of their own, with the routes by their templates, and nothing else there', async () => {
    const base = `http://127.0.0.1:${service.running.metricsPort}`;
    const text = await (await fetch(`${base}/metrics`)).text();
    const requests = 'strata_http_requests_total{method="GET",route="/stack/v1/domains/{domain}",status="200"}';
    assert.ok(text.includes(requests) && /strata_ledger_leaves \d+/.test(text));
    assert.doesNotMatch(text, /ssk_/);
    assert.equal((await service.ask('/metrics')).status, 404);
    assert.equal((await fetch(`${base}/stack/v1/stats`)).status, 404);
    assert.doesNotMatch(service.log.join(''), /ssk_/, 'no key is logged');
  });
});
it('a service that stops finishes a request that waits for a scan, and then takes no more', async () => {
  await using internet = await smallInternet();
  const service = await startHarness({ internet, world: { dnsTryTimeoutMs: 100 } });
  const domain = company(internet, 20);
  internet.fail(domain, { type: 'CAA', status: 'timeout' });
  const waiting = service.get(profilePath(domain));
  await until(() => service.running.app.scanner.isScanning(domain));
  const { base } = service;
  await service[Symbol.asyncDispose]();
  const { status, body } = await waiting;
  assert.deepEqual([status, body.domain], [200, domain]);
  await assert.rejects(fetch(`${base}/health`));
});
it('a service stops in the middle of its schedule without a warning', async () => {
  const log: string[] = [];
  const internet = await sharedInternet();
  const settings = { STRATA_SCAN: 'on', STRATA_SCAN_OPTIONS: 'concurrency=8' };
  const service = await startHarness({ internet, settings, log });
  const { store } = service.running.app;
  await store.domains.add(internet.domains(), { source: 'test' });
  await until(async () => (await store.inspection.counts()).scannedDomains > 0);
  await service[Symbol.asyncDispose]();
  const warnings = log.filter((line) => JSON.parse(line).level >= 40);
  assert.deepEqual(warnings, []);
});
it('a service that stops leaves nothing open when it cannot start, so that the next start works', async () => {
  const internet = await sharedInternet();
  await using service = await startHarness({ internet });
  const taken = String(service.running.port);
  const settings = { ...settingsFor(internet, `${service.directory}/second`), STRATA_STACK_PORT: taken };
  await assert.rejects(startStack(readConfig(settings), silent), {
    name: 'StartError',
    message: `cannot serve the API at 127.0.0.1, port ${taken}: the port is in use; choose another one with STRATA_STACK_PORT or STRATA_HOST`,
  });
  await using second = await startStack(readConfig({ ...settings, STRATA_STACK_PORT: '0' }), silent);
  assert.ok(second.port > 0);
});
