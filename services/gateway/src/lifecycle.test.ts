// A gateway that is stopped during its start and during answers, and one whose engine is killed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import OpenAI from 'openai';
import { fakeService, temporaryDirectory, untilAnswer } from '../../../tests/support/index.ts';
import { openGatewayStore, readGatewayConfig } from './index.ts';
import { type Harness, MODEL, startHarness } from './test/harness.ts';
import { until } from './test/network/answers.ts';
import { ENDLESS, MESSAGES as messages, untilIdle } from './test/shared.ts';

const CHAT = '/v1/chat/completions';
/** Answers do not end by themselves. */
const endless = (slots: number) =>
  createSimulatedEngine({ slots, tokensPerSecond: 50, answerTokens: 100_000 }) as unknown as Engine;

it('a gateway that is stopped stops immediately while it waits for a model', async () => {
  const stopping = new AbortController();
  // Accepts the request and never answers.
  await using hub = await fakeService(() => stopping.abort());
  const settings = { STRATA_MODEL: 'hf:owner/some-model', STRATA_MODEL_OPTIONS: `hf-endpoint=${hub.base}` };
  await assert.rejects(startHarness(settings, { signal: stopping.signal }), stopping.signal.reason);
});

it('a gateway that is stopped closes each connection after its response', async () => {
  await using service = await startHarness({ STRATA_MODEL: '' }, { engines: { m: endless(2) } });
  const connectionOf = async () => (await service.get('/v1/models')).headers.get('connection');
  assert.equal(await connectionOf(), 'keep-alive');
  service.running.gateway.monitoring.readiness.stopping();
  assert.equal(await connectionOf(), 'close');
  const body = { model: 'm', messages, stream: true, max_tokens: 2 };
  assert.equal((await service.post(CHAT, body)).headers.get('connection'), 'close');
});

it('a gateway that is stopped rejects waiting requests, then ends slow answers, and stores their receipts', async () => {
  await using directory = await temporaryDirectory();
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  const service = await startHarness(settings, { engines: { m: endless(2) }, shutdownMs: 300 });
  const order: string[] = [];
  const ask = async (stream: boolean) => {
    const answer = await service.post(CHAT, { model: 'm', messages, stream });
    order.push(stream ? 'cut off' : 'refused');
    return answer;
  };
  const streams = [ask(true), ask(true)];
  await until(() => service.running.gateway.models.busy === 2);
  const waiting = [ask(false), ask(false)];
  await until(() => service.running.gateway.models.busy === 4);
  await service[Symbol.asyncDispose]();
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 503);
  for (const { text } of await Promise.all(streams)) {
    assert.match(text, /"error":\{"message":"The service is stopping/);
    assert.doesNotMatch(text, /\[DONE\]/);
  }
  assert.deepEqual(order, ['refused', 'refused', 'cut off', 'cut off']);
  await using store = await openGatewayStore(readGatewayConfig({ STRATA_DATA: directory.path }));
  assert.deepEqual(await store.answers.unentered(10), [], 'they are in the ledger');
  assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
});

it('a gateway deletes old receipts by the clock of its database, not of its machine', async () => {
  await using directory = await temporaryDirectory();
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  const world = { engines: { m: endless(2) }, now: () => new Date('2020-01-01') };
  const service = await startHarness(settings, world);
  const answer = await service.post(CHAT, { model: 'm', messages, max_tokens: 1 });
  await service[Symbol.asyncDispose]();
  await using restarted = await startHarness(settings, world);
  const receipt = `/v1/receipts/${answer.headers.get('x-receipt-id')}`;
  assert.equal((await restarted.get(receipt, { authorization: `Bearer ${service.key}` })).status, 200);
});

const DAY_MS = 86_400_000;

describe('a gateway', () => {
  let now = Date.now();
  let service: Harness;
  before(async () => {
    const settings = { STRATA_MODEL: '', STRATA_LIMITS: 'streams-per-key=20' };
    const world = { engines: { m: endless(8) }, shutdownMs: 300, now: () => new Date(now) };
    service = await startHarness(settings, world);
  });
  after(() => service?.[Symbol.asyncDispose]());
  const ask = (more: object, headers = {}) => service.post(CHAT, { model: 'm', messages, ...more }, headers);
  const short = (headers = {}) => ask({ max_tokens: 1 }, headers);

  it('whose clock is before its signing key rejects requests with the reason, and recovers when the clock is right', async () => {
    now -= DAY_MS;
    const { status, body, headers } = await short();
    assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'storage_unavailable', '30']);
    assert.match(body.error.message, /cannot sign: the clock is before .+: set the clock right/);
    const ready = () => service.get('/ready');
    await untilAnswer('not ready', ready, ({ text }) => text.includes('the clock is before'));
    now += DAY_MS;
    await untilAnswer('ready', ready, (answer) => answer.status === 200);
    assert.equal((await short()).status, 200);
  });

  it('limits concurrent answers for the free keys of an address, and not for other keys', async () => {
    const { keys, models } = service.running.gateway;
    const bearer = async () => ({ authorization: `Bearer ${(await keys.create({ tier: 'free' })).key}` });
    const streams = [ask({ stream: true }, await bearer()), ask({ stream: true }, await bearer())];
    await until(() => models.busy === 2);
    const { status, body } = await short(await bearer());
    assert.deepEqual([status, body.error.code], [429, 'rate_limit_exceeded']);
    assert.match(body.error.message, /^Free keys of this address or network have reached the limit of 2/);
    assert.equal((await short()).status, 200);
    await service[Symbol.asyncDispose]();
    for (const stream of streams) assert.equal((await stream).status, 200);
  });
});

it('a key that another process revokes ends its open requests with an error and without [DONE]; other keys are not affected', {
  timeout: 120_000,
}, async () => {
  await using directory = await temporaryDirectory();
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  await using service = await startHarness(settings, { engines: { m: endless(4) }, shutdownMs: 0 });
  const { models } = service.running.gateway;
  await using store = await openGatewayStore(readGatewayConfig(settings));
  const { key, stored } = await store.keys.create({ tier: 'unlimited' });
  const ask = () => service.post(CHAT, { model: 'm', messages }, { authorization: `Bearer ${key}` });
  const stream = (own: string) => service.open(CHAT, { model: 'm', messages, stream: true }, { key: own });
  const [unaffected, ...streams] = [await stream(service.key), await stream(key), await stream(key)];
  const complete = ask();
  await until(() => models.busy === 4);
  assert.ok(await store.keys.revoke(stored.id));
  const revoked = /\n\ndata: \{"error":\{"message":"This API key was revoked\."[^}]*"invalid_api_key"\}\}\n\n$/;
  for (const each of streams) assert.match(await each.text(), revoked);
  for (const { status, body } of [await complete, await ask()])
    assert.deepEqual([status, body.error.code], [401, 'invalid_api_key']);
  await until(() => models.busy === 1);
  await service[Symbol.asyncDispose]();
  assert.match((await unaffected?.text()) ?? '', /is stopping/);
});

const asked = { model: MODEL, messages, temperature: 0 };

describe('an engine that is killed', () => {
  let service: Harness;
  before(async () => {
    service = await startHarness({ STRATA_MODEL_OPTIONS: 'slots=2,processes=1' });
  });
  after(() => service?.[Symbol.asyncDispose]());

  const backend = () => service.running.gateway.models.list()[0]?.backend ?? assert.fail();
  const isStarted = () => until(() => backend().isReady);
  const isBusy = () => until(() => service.running.gateway.models.busy > 0);
  function kill(): void {
    const { engine } = backend() as unknown as { readonly engine: { readonly process: { readonly pid: number } } };
    process.kill(engine.process.pid, 'SIGKILL');
  }

  it('ends a stream with an error and without [DONE], and releases the slots of all choices', async () => {
    const response = await service.open(CHAT, { ...ENDLESS, n: 8, stream: true });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (text === '') kill();
      text += chunk;
    }
    assert.equal(response.status, 200);
    assert.match(text, /\n\ndata: \{"error":\{[^}]*"type":"server_error",[^}]*"code":"engine_failed"\}\}\n\n$/);
    await untilIdle(service);
  });

  it('causes a 503 with a retry time', async () => {
    await isStarted();
    const answer = service.post(CHAT, { ...ENDLESS, n: 8 });
    await isBusy();
    kill();
    const { status, body, headers } = await answer;
    const retry = ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => headers.get(name));
    assert.deepEqual([status, body.error.code, ...retry], [503, 'engine_failed', '1', '1000', 'true']);
    assert.equal((await service.get('/v1/models')).status, 200, 'the gateway itself goes on');
    await untilIdle(service);
  });

  it('is restarted, and official clients get their answer by retrying', async () => {
    await isStarted();
    const client = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: service.key, maxRetries: 3 });
    const answer = client.chat.completions.create(asked);
    await isBusy();
    kill();
    assert.match((await answer).choices[0]?.message.content ?? '', /^DMARC tells/);
    assert.equal((await service.post(CHAT, { ...asked, n: 8 })).status, 200);
  });
});
