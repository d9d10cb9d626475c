import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { AnswerCache, type ReadyAnswer } from './answer-cache.ts';
import { COMPRESS_FROM_BYTES, encodedBytes, encodedNow, encodingFor } from './send-answer.ts';

const answerOf = (text: string): ReadyAnswer => ({ bytes: Buffer.from(text), etag: `"${text}"`, status: 200 });
const makes = (text: string) => async () => answerOf(text);
const textOf = (answer: ReadyAnswer | undefined) => answer?.bytes.toString();
const A = { key: 'a', tags: ['t'] };

it('an answer is compressed from a minimum size on', () => {
  const encodings = [COMPRESS_FROM_BYTES - 1, COMPRESS_FROM_BYTES].map((size) =>
    encodingFor('gzip', answerOf('a'.repeat(size))),
  );
  assert.deepEqual(encodings, [undefined, 'gzip']);
});

it('the cache of ready answers keeps an answer that was computed from data read after the invalidation', async () => {
  const cache = new AnswerCache();
  await cache.compute(A, async (resetReads) => {
    cache.invalidate('t');
    resetReads();
    return answerOf('a');
  });
  assert.ok(cache.get('a'));
});

it('the cache of ready answers keeps only the latest of two that were computed at once, and still finds it by its tag', async () => {
  for (const readsAgainAfter of [false, true]) {
    const cache = new AnswerCache();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const early = cache.compute(A, async (resetReads) => {
      await first.promise;
      resetReads();
      return answerOf('early');
    });
    cache.invalidate('t');
    const late = cache.compute(A, () => second.promise.then(makes('late')));
    if (readsAgainAfter) cache.invalidate('t');
    first.resolve();
    await early;
    assert.equal(cache.get('a'), undefined, 'an answer that no invalidation reaches is not kept');
    second.resolve();
    await late;
    assert.equal(textOf(cache.get('a')), readsAgainAfter ? undefined : 'late');
    cache.invalidate('t');
    assert.equal(cache.get('a'), undefined, 'the tag still leads to it');
  }
});

it('the cache of ready answers does not keep a failure, even of a function that throws before it returns a promise', async () => {
  const cache = new AnswerCache();
  const fails = () => {
    throw new Error('at once');
  };
  for (const make of [fails, () => Promise.reject(new Error('at once'))])
    await assert.rejects(cache.compute(A, make), /at once/);
  assert.equal(textOf(await cache.compute(A, makes('yes'))), 'yes');
  cache.invalidate('t');
  assert.deepEqual([cache.size, cache.tagCount], [0, 0]);
});

it('the cache of ready answers keeps no tag without an answer', async () => {
  const cache = new AnswerCache({ maxBytes: 4_000 });
  for (let i = 0; i < 50; i += 1) await cache.compute({ key: `k${i}`, tags: [`t${i}`] }, makes('x'.repeat(500)));
  assert.ok(cache.size <= 4, 'the least recently used are evicted');
  assert.ok(cache.get('k49') && !cache.get('k0'));
  assert.equal(cache.tagCount, cache.size, 'tags of what was evicted');
  await assert.rejects(cache.compute({ key: 'bad', tags: ['bad'] }, () => Promise.reject(new Error('no'))));
  await cache.compute({ key: 'stale', tags: ['stale'] }, async () => {
    cache.invalidate('stale');
    return answerOf('stale');
  });
  await cache.compute({ key: 'huge', tags: ['huge'] }, makes('x'.repeat(5_000)));
  assert.equal(cache.tagCount, cache.size, 'tags of a failure, of a stale answer, of one too large to keep');
  for (let i = 0; i < 50; i += 1) cache.invalidate(`t${i}`);
  assert.deepEqual([cache.size, cache.tagCount], [0, 0]);
});

it('the cache of ready answers replaces an answer of other tags without losing the new ones', async () => {
  const cache = new AnswerCache();
  await cache.compute({ key: 'a', tags: ['x', 'y'] }, makes('old'));
  cache.invalidate('x');
  await cache.compute({ key: 'a', tags: ['y', 'z'] }, makes('new'));
  assert.equal(cache.tagCount, 2);
  cache.invalidate('x');
  assert.ok(cache.get('a'));
  cache.invalidate('z');
  assert.deepEqual([cache.size, cache.tagCount], [0, 0]);
});

it('the cache of ready answers serves stale responses as long as the policy allows, then recomputes once', async () => {
  let now = 0;
  let made = 0;
  const cache = new AnswerCache({ now: () => now });
  const ask = async () => textOf(await cache.compute({ ...A, maxStaleMs: 1_000 }, async () => answerOf(`${++made}`)));
  assert.equal(await ask(), '1');
  for (now = 100; now < 1_000; now += 300) {
    cache.invalidate('t');
    assert.equal(await ask(), '1', 'a second has not passed');
  }
  now = 1_000;
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['2', '2', '2']);
  now = 5_000;
  assert.equal(await ask(), '2', 'nothing was invalidated since');
  cache.invalidate('t');
  assert.equal(await ask(), '3', 'older than a second: at once');
});

it('the cache of ready answers recomputes responses that reached their maximum age', async () => {
  let now = 0;
  let made = 0;
  const cache = new AnswerCache({ now: () => now });
  const ask = async (at: number) => {
    now = at;
    return textOf(await cache.compute({ key: 'a', tags: [], maxAgeMs: 60_000 }, async () => answerOf(`${++made}`)));
  };
  assert.deepEqual([await ask(0), await ask(59_999), await ask(60_000)], ['1', '1', '2']);
});

const answer = () => ({ bytes: Buffer.from('compressible '.repeat(500)), etag: '"x"', status: 200 });

it('a compressed answer is computed once for concurrent requests, and kept beside its other encoding', async () => {
  const plain = answer();
  const [one, other] = [encodedBytes(plain, 'gzip'), encodedBytes(plain, 'gzip')];
  assert.equal(encodedNow(plain, 'gzip'), undefined, 'what is still being made is not there yet');
  assert.equal(await one, await other, 'the same buffer');
  assert.deepEqual(gunzipSync(await one), plain.bytes);
  const br = await encodedBytes(plain, 'br');
  assert.equal(encodedNow(plain, 'gzip'), await one);
  assert.equal(encodedNow(plain, 'br'), br);
  assert.equal(encodedNow(answer(), 'br'), undefined);
});
