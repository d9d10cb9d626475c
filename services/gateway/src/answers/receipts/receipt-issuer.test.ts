import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it } from 'node:test';
import { until } from '../../../../../tests/support/until.ts';
import { type AnswerReceipt, usedOf } from './answer-receipt.ts';
import { issueAnswer } from './issue-answer.ts';
import { ReceiptIssuer } from './receipt-issuer.ts';

const now = new Date(0);
const model = { id: 'm', sha256: null, engine: 'e', verified: { level: 'claimed', reason: 'a test' } } as const;
const digests = { salt: '00'.repeat(32), requestDigest: '00' };
const charge = { price: { input: 7, cached: 1, output: 3 }, accounts: ['a'] };
const start = { answerId: 'a', requestId: 'r', keyId: 'k', endpoint: '/', model, ...digests, receivedAt: now, charge };
const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0 };
const ended = { outcome: 'completed', content: [], finishReasons: ['stop'], usage, firstTokenAt: now } as const;
const signing = { now, publicKeyUrl: '/keys', keyId: 'key', privateKey: generateKeyPairSync('ed25519').privateKey };
const order = (receiptId: string) => ({ receiptId, answer: { start, end: { ...ended, segments: [] } }, ...signing });
const ids = ['one', 'two', 'three'];
const expected = ids.map((id) => issueAnswer(order(id)));
const issuedBy = (issuer: ReceiptIssuer, ...more: ReturnType<typeof order>[]) =>
  Promise.all([...ids.map(order), ...more].map((each) => issuer.issue(each)));
for (const { body, used } of expected) assert.deepEqual(usedOf(JSON.parse(body) as AnswerReceipt), used);
let warnings = 0;
const logger = { warn: () => ++warnings };

it('receipts are the same from both threads; one fails alone, and the thread may end', async () => {
  await using issuer = new ReceiptIssuer({ logger, now: () => now });
  assert.deepEqual(await issuedBy(issuer), expected, 'while the thread starts');
  await until(() => issuer.isReady);
  assert.deepEqual(await issuedBy(issuer), expected, 'by the thread');
  const unsendable = Object.assign(order('one'), { log: () => {} });
  assert.deepEqual(await issuedBy(issuer, unsendable), [...expected, expected[0]], 'by this thread');
  const never = issuer.issue({ ...order('never'), keyId: '\ud800' });
  const waiting = issuedBy(issuer);
  await assert.rejects(never, { name: 'CanonicalFormError' });
  assert.deepEqual(await waiting, expected);
  const lost = issuedBy(issuer);
  await issuer[Symbol.asyncDispose]();
  assert.deepEqual([await lost, warnings], [expected, 1]);
});

for (const [what, url] of Object.entries({ 'does not start': 'http://a', fails: 'data:text/javascript,throw 1' }))
  it(`a thread that ${what} is logged and started again a minute later`, async () => {
    let nowMs = 0;
    warnings = 0;
    await using issuer = new ReceiptIssuer({ logger, now: () => new Date(nowMs) }, new URL(url));
    for (const atMs of [0, 59_999, 60_000]) {
      nowMs = atMs;
      assert.deepEqual(await issuedBy(issuer), expected);
      await until(() => warnings === (atMs < 60_000 ? 1 : 2));
      // The thread has ended then.
      await issuer[Symbol.asyncDispose]();
    }
  });
