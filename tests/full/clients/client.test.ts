// The typed client with the real services, over real sockets; its README's examples run in Node and in a browser.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ChatRecord, InferenceClient, StackClient, type StackEvent, StackProblem } from '@strata/client';
import { type Harness as Gateway, startHarness as startGateway } from '../../../services/gateway/src/test/harness.ts';
import { type ScannedStack, startScannedStack } from '../../support/client-services.ts';
import { serveModules } from '../../support/module-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openBrowser, skip } from '../../support/web/browser.ts';

const root = path.join(import.meta.dirname, '../../..');
const readme = await readFile(path.join(root, 'packages/client/README.md'), 'utf8');
const examples = new Map(
  [...readme.matchAll(/^## (.+)\n\n```ts\n([\s\S]*?)```/gm)].map(([, title = '', code = '']) => [title, code]),
);

/** What each example prints. */
const OUTPUTS: Readonly<Record<string, RegExp>> = {
  Ask: /^\d+ domains, 49 of 50 requests left\n(?:\S+ .*dns: .*\n){5}$/,
  Verify: /^(?:passed .*\n){7}false signature\n$/,
  'Read a whole list': /^(?:\S+\n){0,3}\d+ parked domains\n$/,
  'Follow events': /^connecting\nopen\n\S+ moved its dns from .+ to .+\n$/,
  Chat: /\nreceipt holds: true and is of these words: true\n$/,
  'In a page': /^\d+ domains; the receipt holds$/,
  'When something goes wrong': /^400 invalid_domain .+\n$/,
};

describe('the clients', () => {
  let scanned: ScannedStack;
  let gateway: Gateway;
  let client: StackClient;
  before(async () => {
    scanned = await startScannedStack();
    await scanned.move(1);
    client = new StackClient({ baseUrl: scanned.service.base, key: scanned.key });
    gateway = await startGateway();
  });
  after(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await scanned?.[Symbol.asyncDispose]();
  });

  it('have the examples that are run here in their README', () =>
    assert.deepEqual([...examples.keys()], Object.keys(OUTPUTS)));

  /** An example with the addresses of these services. */
  const addressed = (code: string, module: string) =>
    code
      .replaceAll('@strata/client', module)
      .replaceAll('http://127.0.0.1:8787', scanned.service.base)
      .replaceAll('http://127.0.0.1:8788', gateway.base);

  for (const [title, code] of examples) {
    if (!code.includes('document.'))
      it(`"${title}" of the README runs in Node`, async () => {
        await using directory = await temporaryDirectory();
        const file = path.join(directory.path, 'example.ts');
        await writeFile(file, addressed(code, pathToFileURL(path.join(root, 'packages/client/src/index.ts')).href));
        const env = { ...process.env, STRATA_STACK_KEY: scanned.key, STRATA_INFERENCE_KEY: gateway.key };
        const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 60_000 });
        assert.match(stdout, OUTPUTS[title] ?? /^$/);
      });

    it(`"${title}" of the README runs in a browser, in a page of another origin`, { skip }, async () => {
      const script = addressed(code, '@strata/client')
        .replaceAll('process.env.STRATA_STACK_KEY', JSON.stringify(scanned.key))
        .replaceAll('process.env.STRATA_INFERENCE_KEY', JSON.stringify(gateway.key));
      await using modules = await serveModules(script);
      await using browser = await openBrowser();
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(modules.url);
      await page.waitForFunction(() => document.title === 'done', undefined, { timeout: 30_000 }).catch(() => {});
      assert.deepEqual(errors, []);
      // The text of the page, or else all that the script prints.
      const output = () => document.body.textContent || (window as unknown as { output: string }).output;
      assert.match(await page.evaluate(output), OUTPUTS[title] ?? /^$/);
    });
  }

  it('give each entry of a list once, whatever the page', async () => {
    const { body } = await client.get('/stack/v1/search', { query: { limit: 1_000 } });
    assert.ok(body.total > 14);
    const all = body.results.map(({ domain }) => domain);
    const listed = (query: { limit: number; offset?: number }) =>
      Array.fromAsync(client.pages('/stack/v1/search', { query }), ({ domain }) => domain);
    assert.deepEqual(await listed({ limit: 7 }), all);
    assert.deepEqual(await listed({ limit: 7, offset: body.total - 3 }), all.slice(-3));
    const asked = { path: { provider: body.results[0]?.services[0]?.provider ?? '' }, query: { limit: 2 } };
    const pages = client.pages('/stack/v1/providers/{provider}', asked);
    const users = await Array.fromAsync(pages, ({ domain }) => domain);
    assert.equal(new Set(users).size, users.length);
    assert.ok(users.includes(all[0] ?? ''));
  });

  it('report problems with what the service answers', async () => {
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
    const baseUrl = scanned.service.base;
    const keyless = await problemOf(new StackClient({ baseUrl }).get('/stack/v1/stats'));
    assert.deepEqual([keyless.status, keyless.code], [401, 'missing_key']);
    const free = new StackClient({ baseUrl, key: await scanned.service.newKey('free') });
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
    }
    const nowhere = await problemOf(new StackClient({ baseUrl: 'http://127.0.0.1:1' }).get('/stack/v1/stats'));
    assert.deepEqual([nowhere.text, (await client.verify(nowhere)).unchecked?.kind], [null, 'no-receipt']);
  });

  it('follow events through a restart of the service without losing one', async () => {
    const stop = new AbortController();
    const states: string[] = [];
    const opened = Promise.withResolvers<void>();
    const onState = ({ kind }: { readonly kind: string }) => {
      states.push(kind);
      if (kind === 'open') opened.resolve();
    };
    const events = client.events({ types: ['migration'] }, { signal: stop.signal, onState });
    const received: StackEvent[] = [];
    const take = async (count: number) => {
      for (let taken = 0; taken < count; taken += 1) {
        const { value } = await events.next();
        if (value) received.push(value);
      }
    };
    const first = take(1);
    await opened.promise;
    const moved = await scanned.move(1);
    await first;
    // No client reads while the service is down, and two events are published before the client is back.
    await scanned.service.restart({ STRATA_STACK_PORT: String(scanned.service.running.port) });
    moved.push(...(await scanned.move(2)));
    await take(2);
    assert.deepEqual(received.map((event) => 'domain' in event && event.domain).sort(), moved.sort());
    assert.equal(received[0]?.type, 'migration');
    assert.ok((await client.verify(JSON.stringify(received[0]))).ok);
    assert.deepEqual(states, ['connecting', 'open', 'waiting', 'connecting', 'open']);
    stop.abort(new Error('enough'));
    await assert.rejects(events.next(), /enough/);
  });

  it('list models, and stream an answer with a receipt of this very text', async () => {
    const inference = new InferenceClient({ baseUrl: gateway.base, key: gateway.key });
    const model = 'strata-tiny-chat';
    assert.deepEqual(
      (await inference.models()).map(({ id }) => id),
      [model],
    );
    const receipts: (string | null)[] = [];
    let record: ChatRecord | undefined;
    const messages = [{ role: 'user' as const, content: 'What is DMARC?' }];
    const request = { model, messages, max_tokens: 16, seed: 7, stream_options: { include_usage: true } };
    const answer = inference.chat(request, {
      onStart: ({ receiptId }) => receipts.push(receiptId),
      onEnd: (end) => {
        record = end;
      },
    });
    const texts = await Array.fromAsync(answer, ({ choices }) => choices[0]?.delta.content ?? '');
    assert.ok(texts.length > 3 && texts.join('') !== '');
    assert.ok(record);
    assert.deepEqual(receipts, [record.receiptId]);
    const { receipt, verification, isOfThese } = await inference.verify(record);
    assert.ok(verification.ok, JSON.stringify(verification.steps));
    assert.deepEqual([isOfThese, receipt.outcome, receipt.model.id], [true, 'completed', model]);
    assert.equal((await inference.verify({ ...record, answerSha256: '0'.repeat(64) })).isOfThese, false);
    assert.equal((await inference.verify(record.receiptId)).isOfThese, null);
  });
});
