// Receipts as a reader meets them: over HTTP, from a running service, and with one byte changed.
import assert from 'node:assert/strict';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifyBody, verifyUrl } from '@strata/client';
import { LogError, rotateSigningKeys } from '@strata/log';
import { startTestStack, type TestStack } from '../support/running-stack.ts';

describe('the receipt of an answer', () => {
  let stack: TestStack;
  let domain: string;
  before(async () => {
    stack = await startTestStack();
    domain = stack.internet.domains().find((name) => stack.internet.truth(name).state === 'active') ?? '';
  });
  after(() => stack[Symbol.asyncDispose]());

  /** A fetch that changes one byte of every answer whose path matches. */
  const tampering =
    (pattern: RegExp, change: (text: string) => string): typeof fetch =>
    async (input, init) => {
      const response = await fetch(input, init);
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (!pattern.test(pathname)) return response;
      const text = await response.text();
      const changed = change(text);
      assert.notEqual(changed, text, 'the test changes something');
      return new Response(changed, { status: response.status, headers: response.headers });
    };
  const profile = () => stack.url(`/stack/v1/domains/${domain}`);
  const failedStep = async (fetch: typeof globalThis.fetch) =>
    (await verifyUrl(profile(), { key: stack.key, fetch })).failedStep;

  it('holds on every kind of signed answer, problems included', async () => {
    const paths = [
      '/health',
      `/stack/v1/domains/${domain}`,
      `/stack/v1/domains/${domain}/changes`,
      '/problems/not_found',
    ];
    for (const each of paths) {
      const result = await verifyUrl(stack.url(each), { key: stack.key });
      assert.equal(result.ok, true, `${each}: ${JSON.stringify(result.steps.at(-1))}`);
    }
    for (const each of ['/nowhere', '/stack/v1/domains/co.uk', '/stack/v1/domains/nobody-has-this.com']) {
      const { text, status } = await stack.get(each);
      assert.ok(status >= 400, each);
      const result = await verifyBody(text, { baseUrl: stack.url('') });
      assert.equal(result.ok, true, `${each}: ${JSON.stringify(result.steps.at(-1))}`);
    }
  });

  it('breaks when a byte of the body, the receipt, the proof or the checkpoint is altered, and says where', async () => {
    assert.equal(await failedStep(fetch), undefined);
    const body = /\/domains\//;
    const ledger = /\/ledger\/receipts\//;
    assert.equal(await failedStep(tampering(body, (t) => t.replace('"active"', '"Active"'))), 'signature');
    assert.equal(await failedStep(tampering(body, (t) => t.replace(/("signed_at":"20)2/, '$13'))), 'signature');
    assert.equal(
      await failedStep(tampering(body, (t) => t.replace(/(ed25519:.)(.)/, (_, a, b) => a + (b === 'A' ? 'B' : 'A')))),
      'signature',
    );
    assert.equal(
      await failedStep(
        tampering(/stack-keys/, (t) => t.replace(/("x":")(.)/, (_, a, b) => a + (b === 'A' ? 'B' : 'A'))),
      ),
      'key',
    );
    assert.equal(
      await failedStep(
        tampering(ledger, (t) => t.replace(/("leaf":".{20})(.)/, (_, a, b) => a + (b === 'A' ? 'B' : 'A'))),
      ),
      'leaf',
    );
    assert.equal(
      await failedStep(
        tampering(ledger, (t) => t.replace(/("proof":\[".)(.)/, (_, a, b) => a + (b === 'A' ? 'B' : 'A'))),
      ),
      'inclusion',
    );
    const inCheckpoint = await failedStep(
      tampering(ledger, (t) => t.replace(/(\\n\d+\\n.)(.)/, (_, a, b) => a + (b === 'A' ? 'B' : 'A'))),
    );
    assert.ok(inCheckpoint === 'checkpoint' || inCheckpoint === 'inclusion', inCheckpoint);
  });

  it('still holds after the signing keys were rotated by another process, and new answers use the new key', async () => {
    const old = await stack.get(`/stack/v1/domains/${domain}`);
    const oldKey = old.body.provenance.key_id;
    await rotateSigningKeys(stack.directory, () => new Date());
    let fresh = old;
    for (let i = 0; i < 40 && fresh.body.provenance.key_id === oldKey; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      fresh = await stack.get(`/stack/v1/domains/nobody-has-this-${i}.com`);
    }
    assert.notEqual(fresh.body.provenance.key_id, oldKey, 'the service took the new key up');
    for (const answer of [old, fresh])
      assert.equal((await verifyBody(answer.text, { baseUrl: stack.url('') })).ok, true);
    const { body } = await stack.get('/.well-known/stack-keys.json');
    assert.deepEqual(
      body.keys.map((key: { status: string }) => key.status),
      ['current', 'retired'],
    );
  });

  it('cannot be given any more once the ledger on disk was altered', async () => {
    const { body: first } = await stack.get(`/stack/v1/domains/${domain}`);
    assert.equal((await verifyBody(first, { baseUrl: stack.url('') })).ok, true);
    await stack.running[Symbol.asyncDispose]();
    const ledger = path.join(stack.directory, 'ledger');
    const files = await readdir(ledger, { recursive: true, withFileTypes: true });
    const journal = files.find((each) => each.isFile() && each.parentPath.endsWith('journal'));
    assert.ok(journal, 'the leaves of so young a log stand in its journal');
    const flip = async () => {
      const file = await open(path.join(journal.parentPath, journal.name), 'r+');
      const byte = Buffer.alloc(1);
      await file.read(byte, 0, 1, 200);
      byte[0] = (byte[0] ?? 0) ^ 1;
      await file.write(byte, 0, 1, 200);
      await file.close();
    };
    await flip();
    await assert.rejects(stack.restart(), (error) => error instanceof LogError && /corrupt|lost/.test(error.code));
    await flip();
    await stack.restart();
    assert.equal((await verifyBody(first, { baseUrl: stack.url('') })).ok, true);
  });
});
