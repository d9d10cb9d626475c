import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it } from 'node:test';
import { until } from '../../../../../tests/support/until.ts';
import { issueAnswer } from './issue-answer.ts';
import { ReceiptIssuer } from './receipt-issuer.ts';

const now = new Date(0);
const model = { id: 'm', sha256: null, engine: 'e', verified: { level: 'claimed', reason: 'a test' } } as const;
const digests = { salt: '00'.repeat(32), requestDigest: '00' };
const start = { answerId: 'a', requestId: 'r', keyId: 'k', endpoint: '/', model, ...digests, receivedAt: now };
const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0 };
const ended = { outcome: 'completed', content: [], finishReasons: ['stop'], usage, firstTokenAt: now } as const;
const signing = { now, publicKeyUrl: '/keys', keyId: 'key', privateKey: generateKeyPairSync('ed25519').privateKey };
const order = (receiptId: string) => ({ receiptId, answer: { start, end: { ...ended, segments: [] } }, ...signing });

it('receipts are the same from both threads; one fails alone, and the thread may end', async () => {
  await using issuer = new ReceiptIssuer();
  const ids = ['one', 'two', 'three'];
  const issued = () => Promise.all(ids.map((id) => issuer.issue(order(id))));
  const expected = ids.map((id) => issueAnswer(order(id)));
  assert.deepEqual(await issued(), expected, 'while the thread starts');
  await until(() => issuer.isReady);
  assert.deepEqual(await issued(), expected, 'by the thread');
  const never = issuer.issue({ ...order('never'), now: new Date(Number.NaN) });
  const [failed, ...rest] = await Promise.allSettled([never, ...ids.map((id) => issuer.issue(order(id)))]);
  assert.ok(failed?.status === 'rejected' && /Invalid time/.test(String(failed.reason)));
  assert.deepEqual(
    rest.map((each) => each.status === 'fulfilled' && each.value),
    expected,
  );
  const waiting = issued();
  await issuer[Symbol.asyncDispose]();
  assert.deepEqual(await waiting, expected);
});
