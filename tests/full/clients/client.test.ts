// The typed client with the real services, over real sockets.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ChatRecord, InferenceClient, StackClient, type StackEvent, StackProblem } from '@strata/client';
import { type Harness as Gateway, startHarness as startGateway } from '../../../services/gateway/src/test/harness.ts';
import type { Harness } from '../../../services/stack/src/test/harness.ts';
import { type ScannedStack, startScannedStack } from '../../support/client-services.ts';

describe('the client of the stack service', () => {
  let scanned: ScannedStack;
  let stack: Harness;
  let client: StackClient;
  before(async () => {
    scanned = await startScannedStack();
    stack = scanned.service;
    client = new StackClient({ baseUrl: stack.base, key: scanned.key });
  });
  after(() => scanned?.[Symbol.asyncDispose]());

  it('verifies JSON, saved text and CSV, and notices one altered letter of each', async () => {
    const answer = await client.get('/stack/v1/stats');
    assert.ok((await client.verify(answer)).ok);
    assert.ok((await client.verify(answer.text)).ok);
    const altered = { ...answer, text: answer.text.replace('"domains":', '"domains":1') };
    assert.equal((await client.verify(altered)).failedStep, 'signature');
    const twice = { ...answer, text: answer.text.replace('{', '{"domains":1,') };
    assert.equal((await client.verify(twice)).failedStep, 'content');
    const { body: keySet } = await client.get('/.well-known/stack-keys.json');
    const [ledgerKey = ''] = keySet.ledger.verifier_keys;
    assert.ok((await client.verify(answer, { ledgerKey })).ok);
    const another = 'elsewhere/log+26cb96d9+AQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ';
    assert.equal((await client.verify(answer, { ledgerKey: another })).failedStep, 'checkpoint');
    const csv = await client.get('/stack/v1/security/export.csv', { query: { sector: undefined } });
    assert.match(csv.body, /^domain,/);
    assert.ok((await client.verify(csv)).ok);
    assert.equal((await client.verify({ ...csv, text: csv.text.replace('domain', 'Domain') })).failedStep, 'signature');
  });

  it('gives each entry of a list once, whatever the page', async () => {
    const found: string[] = [];
    for await (const { domain } of client.pages('/stack/v1/search', { query: { limit: 7 } })) found.push(domain);
    const { body } = await client.get('/stack/v1/search', { query: { limit: 1_000 } });
    assert.ok(body.total > 14);
    const all = body.results.map(({ domain }) => domain);
    assert.deepEqual(found, all);
    const rest: string[] = [];
    const later = { query: { limit: 7, offset: body.total - 3 } };
    for await (const { domain } of client.pages('/stack/v1/search', later)) rest.push(domain);
    assert.deepEqual(rest, found.slice(-3));
    const provider = body.results[0]?.services[0]?.provider ?? '';
    const users: string[] = [];
    const asked = { path: { provider }, query: { limit: 2 } };
    for await (const { domain } of client.pages('/stack/v1/providers/{provider}', asked)) users.push(domain);
    assert.equal(new Set(users).size, users.length);
    assert.ok(users.includes(found[0] ?? ''));
  });

  it('tells problems with what the service says of them', async () => {
    const problemOf = (asked: Promise<unknown>) =>
      asked.then(
        () => assert.fail('it was answered'),
        (error: unknown) => error as StackProblem,
      );
    const unknown = await problemOf(client.get('/stack/v1/domains/{domain}', { path: { domain: 'co.uk' } }));
    assert.ok(unknown instanceof StackProblem);
    assert.deepEqual([unknown.status, unknown.code], [400, 'invalid_domain']);
    assert.match(unknown.requestId ?? '', /./);
    const limit = await problemOf(client.get('/stack/v1/search', { query: { limit: 5_000 } }));
    assert.deepEqual([limit.status, limit.errors[0]?.field], [400, 'limit']);
    const keyless = await problemOf(new StackClient({ baseUrl: stack.base }).get('/stack/v1/stats'));
    assert.deepEqual([keyless.status, keyless.code], [401, 'missing_key']);
    const key = await stack.newKey('free');
    const free = new StackClient({ baseUrl: stack.base, key });
    const askForEver = async () => {
      for (;;) await free.get('/stack/v1/stats');
    };
    let spent = await problemOf(askForEver());
    assert.deepEqual([spent.status, spent.code, spent.quota?.remaining], [429, 'quota_exceeded', 0]);
    assert.ok((spent.retryAfterSeconds ?? 0) > 0);
    spent = await problemOf(free.events().next());
    assert.equal(spent.code, 'quota_exceeded');
    // A refusal is signed too.
    for (const refusal of [unknown, limit, keyless, spent]) {
      const { ok, problem } = await client.verify(refusal);
      assert.deepEqual([ok, problem?.code], [true, refusal.code]);
      const altered = await client.verify((refusal.text ?? '').replace('"status":4', '"status":5'));
      assert.equal(altered.failedStep, 'signature', refusal.code);
    }
    const nowhere = await problemOf(new StackClient({ baseUrl: 'http://127.0.0.1:1' }).get('/stack/v1/stats'));
    assert.deepEqual([nowhere.text, (await client.verify(nowhere)).unchecked?.kind], [null, 'no-receipt']);
  });

  it('follows events through a restart of the service without losing one', async () => {
    const stop = new AbortController();
    const states: string[] = [];
    const opened = Promise.withResolvers<void>();
    const events = client.events(
      { types: ['migration'] },
      {
        signal: stop.signal,
        onState: ({ kind }) => {
          states.push(kind);
          if (kind === 'open') opened.resolve();
        },
      },
    );
    const told: StackEvent[] = [];
    const take = async (count: number) => {
      for (let taken = 0; taken < count; taken += 1) {
        const { value } = await events.next();
        if (value) told.push(value);
      }
    };
    const first = take(1);
    await opened.promise;
    const moved = await scanned.move(1);
    await first;
    const port = stack.running.port;
    // Nobody reads while the service is away, and two events are told before the client is back.
    await stack.restart({ STRATA_STACK_PORT: String(port) });
    moved.push(...(await scanned.move(2)));
    await take(2);
    assert.deepEqual(told.map((event) => 'domain' in event && event.domain).sort(), moved.sort());
    const [event] = told;
    assert.ok(event?.type === 'migration');
    assert.ok((await client.verify(JSON.stringify(event))).ok);
    assert.deepEqual(states, ['connecting', 'open', 'waiting', 'connecting', 'open']);
    stop.abort(new Error('enough'));
    await assert.rejects(events.next(), /enough/);
  });
});

describe('the client of the inference service', () => {
  let gateway: Gateway;
  let client: InferenceClient;
  const model = 'strata-tiny-chat';
  const messages = [{ role: 'user' as const, content: 'What is DMARC?' }];
  before(async () => {
    gateway = await startGateway();
    client = new InferenceClient({ baseUrl: gateway.base, key: gateway.key });
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  it('lists models, and gives an answer as it is written, with a receipt of these very words', async () => {
    const [only, ...others] = await client.models();
    assert.deepEqual([only?.id, others], [model, []]);
    let record: ChatRecord | undefined;
    let started: string | null = null;
    let text = '';
    let chunks = 0;
    const request = { model, messages, max_tokens: 16, seed: 7, stream_options: { include_usage: true } };
    const options = {
      onStart: ({ receiptId }: { receiptId: string | null }) => {
        started = receiptId;
      },
      onEnd: (end: ChatRecord) => {
        record = end;
      },
    };
    for await (const { choices } of client.chat(request, options)) {
      text += choices[0]?.delta.content ?? '';
      chunks += 1;
    }
    assert.ok(chunks > 3 && text.length > 0);
    assert.ok(record);
    assert.equal(record.receiptId, started);
    const { receipt, verification, isOfThese } = await client.verify(record);
    assert.ok(verification.ok, JSON.stringify(verification.steps));
    assert.deepEqual([isOfThese, receipt.outcome, receipt.model.id], [true, 'completed', model]);
    assert.equal((await client.verify({ ...record, answerSha256: '0'.repeat(64) })).isOfThese, false);
    assert.equal((await client.verify(record.receiptId)).isOfThese, null);
  });
});
