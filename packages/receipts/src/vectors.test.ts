// The receipt vectors are what this code issues: a change of a signed or logged byte shows here first.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeHex, encodeHex } from './encoding/base-encoding.ts';
import { isUlid, ulid } from './encoding/ulid.ts';
import { jwkThumbprint } from './receipt/key-set.ts';
import { parseSalt, saltedDigest } from './receipt/salted-digest.ts';
import { bytesOf, goodAnswer, KEY_SET, readVector } from './test/fixture.ts';
import { leafHash, sha256 } from './tree/merkle.ts';
import { verifyDetachedAnswer } from './verify/verify.ts';

const vector = (name: string): Record<string, unknown> => JSON.parse(readVector(`receipts/${name}.json`));
const keySet = vector('key-set');

it('the receipt vectors are issued byte by byte', async () => {
  const { body, ledgerReceipt } = await goodAnswer();
  assert.deepEqual(body, vector('answer'));
  assert.deepEqual(ledgerReceipt, vector('ledger-receipt'));
  assert.deepEqual(KEY_SET, keySet);
});
it('the receipt vectors verify beside their content, too', async () => {
  const { content, content_type, provenance, ledger_receipt } = vector('detached');
  const answer = { content: bytesOf(String(content)), contentType: String(content_type), provenance };
  const beside = await verifyDetachedAnswer(answer, { keySet, ledgerReceipt: ledger_receipt });
  assert.ok(beside.ok, JSON.stringify(beside.steps));
});
it('the receipt vectors have digests under a salt', () => {
  const { salt, request, answer, chain_head, ...digests } = vector('salted-digests');
  const key = parseSalt(String(salt)) ?? assert.fail();
  const [asked, answered] = [request, answer].map((each) => bytesOf(String(each)));
  const bytes = { request: asked, answer: answered, chain_head: decodeHex(String(chain_head)) };
  for (const [of, text] of Object.entries(bytes))
    assert.equal(saltedDigest(key, text ?? assert.fail()), digests[`${of}_hmac_sha256`], of);
  for (const none of ['', 'ab', 'z'.repeat(64), `${salt}00`]) assert.equal(parseSalt(none), undefined);
});
it('the receipt vectors say what each step computes', () => {
  const { signed_bytes, content_sha256, leaf, leaf_hash, ledger_receipt_id } = vector('steps');
  assert.equal(encodeHex(sha256(bytesOf(String(signed_bytes)))), content_sha256);
  assert.equal(encodeHex(leafHash(bytesOf(String(leaf)))), leaf_hash);
  assert.equal((vector('answer').provenance as Record<string, unknown>).ledger_receipt_id, ledger_receipt_id);
});

it('a key is named by the thumbprint of RFC 8037 appendix A.3', () => {
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' } as const;
  assert.equal(jwkThumbprint(key), 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
});
it('ULIDs sort by time and hold their randomness', () => {
  assert.equal(ulid(new Date(0), new Uint8Array(10)), '0'.repeat(26));
  assert.equal(ulid(new Date(2 ** 48 - 1), new Uint8Array(10).fill(255)), `7${'Z'.repeat(25)}`);
  assert.equal(ulid(new Date(1_469_918_176_385), new Uint8Array(16)).slice(0, 10), '01ARYZ6S41');
  assert.ok(isUlid(ulid(new Date(), new Uint8Array(10).fill(99))));
  assert.ok(!isUlid('8'.repeat(26)) && !isUlid('0'.repeat(25)));
  assert.throws(() => ulid(new Date(0), new Uint8Array(9)), RangeError);
});
