// Stored answers: read by their key alone, from any event on, counted once, and continued by the next start.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '@strata/db';
import { type Engine, EngineError } from '@strata/engine';
import { createLogger } from '@strata/http';
import type { ChatDelta } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { exec, rows } from '../../../../../tests/support/database/backends.ts';
import { temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import {
  begin,
  delta,
  events,
  HELLO,
  says,
  startScripted,
  streams,
} from '../../../../../tests/support/scripted-upstream.ts';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { type TakenTokens, TokenQuota } from '../../limits/token-quota.ts';
import { AnswerTable } from '../../store/answers/answers.ts';
import { StoredAnswerTable } from '../../store/answers/stored-answers.ts';
import { type Json, MODEL, startHarness } from '../../test/harness.ts';
import { assertRefusal, ENDLESS, sharedGateway } from '../../test/shared.ts';
import { AnswerCipher } from './answer-cipher.ts';
import { bytesOf, entriesOf } from './log-parts.ts';
import { StoredCleanup } from './stored-cleanup.ts';

it('a stream goes on after an event, once, for the same request alone', async () => {
  const { post, get, running } = await sharedGateway();
  const { key, stored } = await running.gateway.keys.create({ tier: 'unlimited' });
  const own = { authorization: `Bearer ${key}` };
  const asked = { ...ENDLESS, max_tokens: 9, stream: true, store: true };
  const after = (id: string, body: Json = asked, route = 'chat/completions') =>
    post(`/v1/${route}`, body, { ...own, 'last-event-id': id });
  const { text, headers: given } = await post('/v1/chat/completions', asked, own);
  const [, id = ''] = /id: (\S+:4)\n/.exec(text) ?? [];
  const rest = await after(id);
  assert.ok(rest.text.startsWith(`id: ${id.replace(/4$/, '5')}\n`) && text.endsWith(rest.text));
  assert.equal((await after(given.get('x-answer-id') ?? '')).text, text, 'from the beginning');
  const invalid = [400, 'invalid_value', 'Last-Event-ID'] as const;
  for (const event of [id.replace(/4$/, '-1'), `${id}e9`, '7', '-', 'x'.repeat(9_000)])
    assertRefusal(await after(event), invalid);
  assertRefusal(await after(id, { ...asked, max_tokens: 8 }), invalid);
  assertRefusal(await after(id, asked, 'responses'), invalid);
  assertRefusal(await after(`chatcmpl-x:1`), [404, 'not_found', null]);
  const short = { model: MODEL, input: 'Hi', max_output_tokens: 1, store: true };
  const { body, headers } = await post('/v1/responses', short, own);
  const response = `/v1/responses/${body.id}?stream=true`;
  assertRefusal(await get(response, { ...own, 'last-event-id': id }), invalid);
  for (const position of ['-1', '1.5', 'x', '1e99'])
    assertRefusal(await get(`${response}&starting_after=${position}`, own), [400, 'invalid_value', 'starting_after']);
  assert.equal((await get(`${response}&starting_after=999999999`, own)).text, '');
  await get(`/v1/receipts/${headers.get('x-receipt-id')}`, own);
  const used = await running.gateway.answers.usage({ since: '2000-01-01', keyId: stored.id });
  assert.equal(used[0]?.requests, 2, 'the stream and the response');
});

it('a chat completion, streamed or not, is returned by its id until it is deleted, to its key alone', async () => {
  const { post, get, running, base } = await sharedGateway();
  const own = { authorization: `Bearer ${(await running.gateway.keys.create({ tier: 'unlimited' })).key}` };
  const asked = { ...ENDLESS, max_tokens: 9, logprobs: true, n: 2, seed: 1, store: true };
  const { body: made, headers } = await post('/v1/chat/completions', asked, own);
  const chat = `/v1/chat/completions/${made.id}`;
  const found = await get(chat, own);
  assert.deepEqual(found.body, made);
  assert.equal(found.headers.get('x-receipt-id'), headers.get('x-receipt-id'));
  const { headers: streamed } = await post('/v1/chat/completions', { ...asked, stream: true }, own);
  const { body: same } = await get(`/v1/chat/completions/${streamed.get('x-answer-id')}`, own);
  // Log-probabilities depend on what else the engine computes.
  const shown = ({ object, choices, usage }: Json) => [
    ...[object, usage.completion_tokens],
    ...choices.map(({ message, finish_reason, logprobs }: Json) => [
      ...[message, finish_reason],
      logprobs.content.map(({ token }: Json) => token),
    ]),
  ];
  assert.deepEqual([same.id, shown(same)], [streamed.get('x-answer-id'), shown(made)]);
  const { body: unstored } = await post('/v1/chat/completions', { ...asked, store: false }, own);
  assert.deepEqual(shown(unstored), shown(made));
  const absent = [404, 'not_found', null] as const;
  for (const id of [made.id, unstored.id]) assertRefusal(await get(`/v1/chat/completions/${id}`), absent);
  assertRefusal(await get(`/v1/chat/completions/${unstored.id}`, own), absent);
  assertRefusal(await get(`/v1/responses/${made.id}`, own), absent);
  const deleted = await fetch(base + chat, { method: 'DELETE', headers: own });
  assert.deepEqual(await deleted.json(), { id: made.id, object: 'chat.completion.deleted', deleted: true });
  assertRefusal(await get(chat, own), absent);
});

it('a response in the background goes on after a restart as if there was none, and is encrypted at rest', async ({
  mock,
}) => {
  await using directory = await temporaryDirectory();
  const engine = () => createSimulatedEngine({ slots: 4, tokensPerSecond: 100 }) as unknown as Engine;
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  const first = await startHarness(settings, { engines: { m: engine() }, shutdownMs: 0 });
  const body = { model: 'm', input: 'What is DMARC?', max_output_tokens: 60, background: true, stream: true };
  const response = await first.open('/v1/responses', body);
  const begun = new TextDecoder().decode((await response.body?.getReader().read())?.value);
  const id = /"id":"(resp_[^"]+)"/.exec(begun)?.[1] ?? assert.fail();
  await first[Symbol.asyncDispose]();
  for (const file of ['inference.db', 'inference.db-wal'])
    assert.ok(!readFileSync(path.join(directory.path, file), { flag: 'a+' }).includes(body.input));
  const own = { authorization: `Bearer ${first.key}` };
  await using other = await startHarness(settings, { engines: { other: engine() } });
  const unserved = [404, 'model_not_found', 'model'] as const;
  assertRefusal(await other.get(`/v1/responses/${id}?stream=true&starting_after=59`, own), unserved);
  await other[Symbol.asyncDispose]();
  await using second = await startHarness(settings, { engines: { m: engine() } });
  assertRefusal(await second.get(`/v1/responses/${id}`), [404, 'not_found', null]);
  const { takeOver } = StoredAnswerTable.prototype;
  const lost = async function (this: StoredAnswerTable, ...asked: Parameters<typeof takeOver>) {
    await takeOver.apply(this, asked);
    throw new StoreError('connection-lost');
  };
  mock.method(StoredAnswerTable.prototype, 'takeOver', lost, { times: 1 });
  assert.equal((await second.get(`/v1/responses/${id}`, own)).status, 503);
  const begunAnswers = () => rows(`sqlite:${directory.path}/inference.db`, 'select id from begun_answers');
  await until(async () => (await begunAnswers()).length === 0, { limitMs: 30_000 });
  const all = (await second.get(`/v1/responses/${id}?stream=true`, own)).text;
  assert.ok(all.startsWith(begun));
  const rest = await second.get(`/v1/responses/${id}?stream=true&starting_after=9`, own);
  assert.ok(all.endsWith(`\n\n${rest.text}`) && rest.text.startsWith(`id: ${id}:10\n`));
  const { status, usage } = (await second.get(`/v1/responses/${id}`, own)).body;
  assert.deepEqual([status, usage.output_tokens], ['incomplete', 60]);
});

it('an answer whose receipt the database refuses goes on when it accepts it, without its client', async ({ mock }) => {
  await using directory = await temporaryDirectory();
  await using gateway = await startHarness({ STRATA_DATA: directory.path }, { now: () => new Date(Date.now() + 9e6) });
  const { keep } = AnswerTable.prototype;
  let kept = 0;
  mock.method(AnswerTable.prototype, 'keep', async function (this: AnswerTable, ...asked: Parameters<typeof keep>) {
    if (asked[0].length > 0 && ++kept < 2) throw new StoreError('read-only');
    return keep.apply(this, asked);
  });
  const taking = mock.method(StoredAnswerTable.prototype, 'takeOver', async () => false, { times: 1 });
  const [{ take }, released] = [TokenQuota.prototype, mock.fn((release: () => void) => release())];
  mock.method(TokenQuota.prototype, 'take', async function (this: TokenQuota, ...asked: Parameters<typeof take>) {
    const taken = (await take.apply(this, asked)) as TakenTokens;
    return { ...taken, settle: (used: number, day: string) => released.bind(undefined, taken.settle(used, day)) };
  });
  const { key } = await gateway.running.gateway.keys.create({ tier: 'standard' });
  const asked = { model: MODEL, input: 'Hi', max_output_tokens: 1, background: true };
  await gateway.post('/v1/responses', asked, { authorization: `Bearer ${key}` });
  const database = `sqlite:${path.join(directory.path, 'inference.db')}`;
  await until(async () => (await rows(database, 'select id from answer_receipts')).length === 1, { limitMs: 30_000 });
  assert.deepEqual([kept, await rows(database, 'select id from begun_answers')], [2, []]);
  const [{ changed_at } = assert.fail()] = await rows(database, 'select changed_at from stored_answers');
  assert.ok(Number(changed_at) <= Date.now(), 'by the clock of the database');
  assert.deepEqual([taking.mock.callCount(), released.mock.callCount()], [1, 1], 'refused once; no tokens count twice');
});

it('a gateway stops while the beginning of an answer is recorded', async ({ mock }) => {
  const gateway = await startHarness({}, { shutdownMs: 0 });
  const { keep } = AnswerTable.prototype;
  const recording = Promise.withResolvers<void>();
  mock.method(AnswerTable.prototype, 'keep', async function (this: AnswerTable, ...asked: Parameters<typeof keep>) {
    recording.resolve();
    await sleep(1_000);
    return keep.apply(this, asked);
  });
  const asked = gateway.post('/v1/chat/completions', { ...ENDLESS, stream: true, store: true }).catch(() => {});
  await recording.promise;
  await gateway[Symbol.asyncDispose]();
  await asked;
});

it('the answer of an upstream is asked for again before its first content, once, and fails after it', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startScripted();
  const upstream = { STRATA_UPSTREAM: server.base, STRATA_UPSTREAM_MODELS: 'm' };
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path, ...upstream };
  const asked = { model: 'm', messages: ENDLESS.messages, stream: true, store: true };
  const resumed = async (sent: string) => {
    server.script((response) => void (sent && begin(response).write(sent)));
    const first = await startHarness(settings, { shutdownMs: 0 });
    const { body, headers } = await first.open('/v1/chat/completions', asked);
    if (sent) await body?.getReader().read();
    await first[Symbol.asyncDispose]();
    server.script(streams(HELLO));
    await using second = await startHarness(settings);
    const own = { authorization: `Bearer ${first.key}`, 'last-event-id': headers.get('x-answer-id') ?? '' };
    return (await second.post('/v1/chat/completions', asked, own)).text;
  };
  assert.match(await resumed(''), /"Hel".*"lo".*\[DONE\]/s);
  const begun = await resumed(events(delta({ role: 'assistant' })));
  assert.match(begun, /"Hel".*"lo".*\[DONE\]/s);
  assert.equal(begun.split('"role"').length, 2, begun);
  assert.match(await resumed(events(says('Good'))), /"Good".*an upstream cannot.*"engine_failed"/s);
});

it('an answer whose gateway has no worker is left to another gateway: its stream goes on later, with the same tokens', async () => {
  await using directory = await temporaryDirectory();
  const simulated = createSimulatedEngine({ slots: 4, tokensPerSecond: 100 }) as unknown as Engine;
  const state = { isReady: true, failsAt: 9 };
  const engine = {
    ...simulated,
    get isReady() {
      return state.isReady;
    },
    async *generate(...[job, ...rest]: Parameters<Engine['generate']>) {
      let made = job.given.length;
      if (state.failsAt < 0) throw new EngineError('no-worker', 'no worker');
      for await (const event of simulated.generate(job, ...rest)) {
        if (event.kind === 'token' && made++ === state.failsAt) throw new EngineError('no-worker', 'no worker');
        yield event;
      }
    },
  };
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  await using gateway = await startHarness(settings, { engines: { m: engine } });
  const asked = { model: 'm', prompt: 'What is DMARC?', seed: 1, max_tokens: 20, stream: true, store: true };
  const route = '/v1/completions';
  const alone = await gateway.post(route, asked);
  assert.match(alone.text, /"code":"overloaded"/, 'without another gateway it fails');
  const insert = 'insert into gateways (id, settler, heartbeat, entered) values (7, 7, 0, 0)';
  await exec(`sqlite:${directory.path}/inference.db`, insert);
  const first = await gateway.post(route, asked);
  assert.doesNotMatch(first.text, /error|DONE/);
  // What was not stored yet was not sent.
  const [, event = first.headers.get('x-answer-id') ?? ''] = /id: (\S+)\n[^\n]+\n\n$/.exec(first.text) ?? [];
  const own = { 'last-event-id': event };
  state.isReady = false;
  const refused = await gateway.post(route, asked, own);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'], refused.text);
  Object.assign(state, { isReady: true, failsAt: 999 });
  const rest = await gateway.post(route, asked, own);
  const { text } = await gateway.post(route, asked);
  const withoutIds = (events: string) => events.replaceAll(/cmpl-[\w-]+|"created":\d+/g, '');
  assert.equal(withoutIds(first.text + rest.text), withoutIds(text));
  state.failsAt = -1;
  const { status, headers } = await gateway.post('/v1/responses', { model: 'm', input: 'Hi', store: true });
  const { outcome, usage } = (await gateway.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).body;
  assert.deepEqual([status, outcome, usage.prompt_tokens], [503, 'failed', 0], 'a client without its id gets all back');
});

it('parts as a version before JSON wrote them are read, as are those written from them; unknown ones are refused', () => {
  const { key, answer, part } = casesOf<Readonly<Record<string, string>>>('gateway', 'part of an earlier version');
  const read = entriesOf(new AnswerCipher(key ?? '', answer ?? '').open(1, part ?? ''));
  const texts = read.flatMap((entry) => ('over' in entry ? entry.over.outcome : entry.deltas.map(shownOf)));
  assert.deepEqual(texts, ['begin', 'Hi', 'é', 'end', 'completed']);
  const [begun, ...tokens] = read.flatMap((entry) => ('over' in entry ? [] : [entry]));
  assert.deepEqual([begun?.cachedTokens, tokens[0]?.firstTokenAt?.toJSON()], [3, '2026-11-29T12:00:00.000Z']);
  const made = tokens.flatMap(({ token }) => (token ? [token] : []));
  assert.equal(Buffer.concat(made.map(({ bytes }) => bytes)).toString(), 'Hié');
  const tops = made.map(({ token, logprob, top }) => `${token} ${logprob} ${top?.[0]?.bytes}`);
  assert.deepEqual(tops, ['7 -1 undefined', '8 -2 undefined', '9 -0.5 é']);
  assert.deepEqual(entriesOf(bytesOf(read)).slice(0, -1), read.slice(0, -1));
  for (const later of ['[[0,"a",[1]]]', '[[0,[{"kind":"image"}]]]', '[{"over":{"outcome":"paused"}}]'])
    assert.throws(() => entriesOf(Buffer.from(later)), { kind: 'engine_failed' });
});

const shownOf = (delta: ChatDelta) => ('text' in delta ? delta.text : delta.kind);

it('the oldest answers are deleted a minute after they were found, as soon as the database accepts it', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
  const calls: string[] = [];
  const stored = {
    ...{ now: () => new Date(), touch: async () => {}, expire: async () => {} },
    async surplus(keys: readonly string[]) {
      if (calls.push(`of ${keys}`) === 1) throw new Error('the database is away');
      return ['a'];
    },
    async removeAll(ids: readonly string[]) {
      if (calls.push(`delete ${ids}`) === 4) throw new Error('the database is away');
    },
  };
  using cleanup = new StoredCleanup({ stored, running: () => [], logger: createLogger({ level: 'silent' }) });
  cleanup.added('key');
  for (const ms of [30_000, 30_000, 60_000, 60_000]) {
    mock.timers.tick(ms);
    await setImmediate();
  }
  assert.deepEqual(calls, ['of key', 'of key', 'delete ', 'delete a', 'delete a']);
});
