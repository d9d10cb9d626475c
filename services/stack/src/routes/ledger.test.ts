// The ledger as anyone sees it: checkpoint, tiles, receipts, and what is no part of it.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Harness, startHarness } from '../test/harness.ts';
import { sharedInternet } from '../test/shared.ts';

/** A new log, of fewer leaves than a tile holds. */
let service: Harness;

/** The path exactly as written; fetch would resolve its dots. */
function rawGet(path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { port } = service.running;
    request({ host: '127.0.0.1', port, path }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    })
      .on('error', reject)
      .end();
  });
}

describe('the ledger', () => {
  before(async () => {
    service = await startHarness({ internet: await sharedInternet() });
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('holds the receipt of an answer by the time that the answer is there, and proves it', async () => {
    const { body } = await service.ask('/health');
    const id = body.provenance.ledger_receipt_id;
    const { status, body: receipt } = await service.ask(`/ledger/receipts/${id}`);
    assert.equal(status, 200);
    assert.deepEqual([receipt.ledger_receipt_id, receipt.receipt_id], [id, body.provenance.receipt_id]);
    assert.ok(Number(receipt.index) < Number(receipt.tree_size));
    const leaf = JSON.parse(Buffer.from(String(receipt.leaf), 'base64').toString());
    assert.equal(leaf.signature, body.provenance.signature);

    const proof = await service.ask(`/ledger/receipts/${id}/proof`);
    assert.match(proof.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(proof.text, /^c2sp\.org\/tlog-proof@v1\n/);
    assert.ok(proof.text.endsWith(String(receipt.checkpoint)));
  });

  it('gives its signed head, never to be kept, and its tiles, to be kept for ever', async () => {
    const { text, headers } = await service.ask('/ledger/checkpoint');
    const [origin, size = '', root, blank, signature] = text.split('\n');
    assert.equal(origin, 'localhost/strata/stack');
    assert.equal(Buffer.from(root ?? '', 'base64').length, 32);
    assert.deepEqual([blank, signature?.startsWith(`— ${origin} `)], ['', true]);
    assert.equal(headers.get('cache-control'), 'no-cache');

    const tile = await fetch(`${service.base}/ledger/tile/0/000.p/${size}`);
    assert.equal((await tile.arrayBuffer()).byteLength, 32 * Number(size));
    assert.match(tile.headers.get('cache-control') ?? '', /immutable/);
    const entries = await fetch(`${service.base}/ledger/tile/entries/000.p/${size}`);
    assert.equal(entries.status, 200);
  });

  it('answers 404 for tiles that it does not have, and for what is no tile', async () => {
    const paths = ['0/000', '0/001', '0/000.p/0', '0/000.p/256', '0/000.p/255', '9/000', '64/000', '0/0', '0/x000/000'];
    for (const path of [...paths, '-1/000', 'entries/001', 'entries', '', 'checkpoint', 'NaN/000']) {
      const { status, body } = await service.ask(`/ledger/tile/${path}`);
      assert.deepEqual([status, body.code], [404, 'not_found'], path);
    }
    assert.equal((await service.ask(`/ledger/tile/${'0/'.repeat(150)}000`)).status, 400);
  });

  it('never leaves its tiles by way of dots, however they are encoded', async () => {
    const ways = ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '..%5c', '....//', '..%00/', '%252e%252e%252f'];
    const targets = ['keys/receipts/signing-keys.json', 'strata.db', 'etc/passwd', 'journal', 'checkpoint'];
    for (const way of ways) {
      for (const target of targets) {
        for (const depth of [1, 6]) {
          const { status, text } = await rawGet(`/ledger/tile/${way.repeat(depth)}${target}`);
          assert.ok([400, 404].includes(status), `${way} ${target}: ${status}`);
          assert.doesNotMatch(text, /SQLite format|root:|not_before/);
        }
      }
    }
  });

  it('refuses ids of another form, and knows none that it did not give', async () => {
    const forms = [
      'x',
      'cr_',
      `cr_${'a'.repeat(31)}`,
      `cr_${'a'.repeat(33)}`,
      `cr_${'A'.repeat(32)}`,
      `cr_${'1'.repeat(32)}`,
    ];
    for (const id of [...forms, `rwr_${'0'.repeat(26)}`, `cr_${'a'.repeat(32)}%0a`]) {
      for (const suffix of ['', '/proof']) {
        const { status, body } = await service.ask(`/ledger/receipts/${id}${suffix}`);
        assert.deepEqual([status, body.code], [400, 'invalid_parameter'], id);
        assert.equal(body.errors?.[0]?.field, 'ledger_receipt_id');
      }
    }
    for (const suffix of ['', '/proof']) {
      const { status, body } = await service.ask(`/ledger/receipts/cr_${'a'.repeat(32)}${suffix}`);
      assert.deepEqual([status, body.code], [404, 'not_found']);
    }
  });

  it('also holds the receipts of problems', async () => {
    const { status, body } = await service.ask('/nowhere');
    assert.deepEqual([status, body.code], [404, 'not_found']);
    assert.equal((await service.ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`)).status, 200);
  });
});
