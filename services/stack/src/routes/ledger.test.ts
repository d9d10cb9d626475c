// The ledger as anyone sees it: checkpoint, tiles, receipts, and what is not part of it. That no path leaves its tiles:
// tests/full/security/http-attacks.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rotateSigningKeys } from '@strata/log';
import { verifyAnswer } from '@strata/receipts';
import { shared } from '../../../../tests/support/shared.ts';
import { sharedInternet, startHarness } from '../test/index.ts';

/** With a new log, of fewer leaves than a tile holds. */
const service = await shared(async () => startHarness({ internet: await sharedInternet() }))();

it('the ledger holds the receipt of an answer, or of a problem, by the time that the answer is there, and proves it', async () => {
  for (const path of ['/health', '/nowhere']) {
    const { provenance } = (await service.ask(path)).body;
    const id = provenance.ledger_receipt_id;
    const { status, body: receipt } = await service.ask(`/ledger/receipts/${id}`);
    assert.equal(status, 200);
    assert.deepEqual([receipt.ledger_receipt_id, receipt.receipt_id], [id, provenance.receipt_id]);
    assert.ok(Number(receipt.index) < Number(receipt.tree_size));
    const leaf = JSON.parse(Buffer.from(String(receipt.leaf), 'base64').toString());
    assert.equal(leaf.signature, provenance.signature);

    const proof = await service.ask(`/ledger/receipts/${id}/proof`);
    assert.match(proof.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(proof.text, /^c2sp\.org\/tlog-proof@v1\n/);
    assert.ok(proof.text.endsWith(String(receipt.checkpoint)));
  }
});

it('the ledger serves its signed head without caching, and its tiles with unlimited caching', async () => {
  const { text, headers } = await service.ask('/ledger/checkpoint');
  const [origin, size = '', root, blank, signature] = text.split('\n');
  assert.equal(origin, 'localhost/strata/stack');
  assert.equal(Buffer.from(root ?? '', 'base64').length, 32);
  assert.deepEqual([blank, signature?.startsWith(`— ${origin} `)], ['', true]);
  assert.equal(headers.get('cache-control'), 'no-cache');

  const tile = await fetch(`${service.base}/ledger/tile/0/000.p/${size}`);
  assert.equal((await tile.arrayBuffer()).byteLength, 32 * Number(size));
  assert.match(tile.headers.get('cache-control') ?? '', /immutable/);
  assert.equal((await service.ask(`/ledger/tile/entries/000.p/${size}`)).status, 200);
});

it('the ledger answers 404 for tiles that it does not have, and for what is not a tile', async () => {
  for (const path of ['0/000', '0/001', '9/000', 'entries/001', 'entries', '', 'checkpoint', '0/000.p/0']) {
    const { status, body } = await service.ask(`/ledger/tile/${path}`);
    assert.deepEqual([status, body.code], [404, 'not_found'], path);
  }
  assert.equal((await service.ask(`/ledger/tile/${'0/'.repeat(150)}000`)).status, 400);
});

it('the ledger refuses ids of another form, and knows none that it did not give', async () => {
  const bodies = ['', 'a'.repeat(31), 'a'.repeat(33), 'A'.repeat(32), '1'.repeat(32), `${'a'.repeat(32)}%0a`];
  for (const suffix of ['', '/proof']) {
    for (const id of ['x', `rwr_${'0'.repeat(26)}`, ...bodies.map((each) => `cr_${each}`)]) {
      const { status, body } = await service.get(`/ledger/receipts/${id}${suffix}`);
      assert.deepEqual([status, body.code], [400, 'invalid_parameter'], id);
      assert.equal(body.errors?.[0]?.field, 'ledger_receipt_id');
    }
    const { status, body } = await service.ask(`/ledger/receipts/cr_${'a'.repeat(32)}${suffix}`);
    assert.deepEqual([status, body.code], [404, 'not_found']);
  }
});

it('the ledger has one leaf for each kind of refusal without a valid key, for as long as its signing key is in use', async () => {
  const { log } = service.running.app.ledger;
  const refused = new Map<string, string>();
  const refuse = async (chosen: string) => {
    const headers = { 'x-request-id': `request-${chosen}` };
    for (const [target, init] of [
      [`/${chosen}`],
      [`/stack/v1/domains/${chosen}.com?${chosen}`],
      [`/stack/v1/providers/${chosen}`, { headers: { 'x-stack-key': `ssk_${chosen}` } }],
      [`/stack/v1/search?q=${chosen}`, { method: 'DELETE' }],
      [`/ledger/receipts/cr_${chosen}`],
      [`/problems/${chosen}`],
      [`/keys?${chosen}`, { method: 'POST', body: `{${chosen}`, headers: { 'content-type': 'application/json' } }],
    ] as const) {
      const asked: RequestInit = { ...init, headers: { ...headers, ...(init && 'headers' in init && init.headers) } };
      const { status, headers: sent, text, body } = await service.ask(target, asked);
      assert.ok(status >= 400 && !text.includes(chosen), text);
      assert.equal(sent.get('x-request-id'), headers['x-request-id']);
      assert.equal(text, refused.get(`${body.code}`) ?? text, `${body.code}: another body`);
      refused.set(`${body.code}`, text);
    }
  };
  const before = log.size;
  for (let i = 0; i < 15; i += 1) await Promise.all(Array.from({ length: 10 }, (_, j) => refuse(`chosen${i}x${j}`)));
  const kinds = 'invalid_key invalid_parameter method_not_allowed missing_key not_found quota_exceeded';
  assert.deepEqual([...refused.keys()].sort(), kinds.split(' '));
  // The first test has met a kind already.
  assert.ok(log.size - before <= refused.size, `${log.size - before} leaves`);
  const keySet = (await service.ask('/.well-known/stack-keys.json')).body;
  for (const text of refused.values()) {
    const body = JSON.parse(text);
    const ledgerReceipt = (await service.ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`)).body;
    assert.ok((await verifyAnswer(body, { keySet, ledgerReceipt })).ok, text);
  }
  await service.restart();
  const { ledger } = service.running.app;
  const restarted = ledger.log.size;
  await refuse('after-a-restart');
  assert.equal(ledger.log.size, restarted);
  await rotateSigningKeys(service.directory, () => new Date(), { origin: service.running.app.config.ledgerOrigin });
  await ledger.reload();
  refused.clear();
  for (let i = 0; i < 2; i += 1) await refuse('after-a-rotation');
  assert.equal(ledger.log.size - restarted, refused.size, 'one of a kind by the new key');
});
