import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerCache, type ReadyAnswer } from './answer-cache.ts';

const answerOf = (text: string): ReadyAnswer => ({ bytes: Buffer.from(text), etag: `"${text}"`, status: 200 });

const makes = (text: string) => async () => answerOf(text);

describe('the cache of ready answers', () => {
  it('computes an answer once, however many ask at the same time', async () => {
    const cache = new AnswerCache();
    let computed = 0;
    const ask = () =>
      cache.compute({ key: 'a', tags: ['t'] }, async () => {
        computed += 1;
        return answerOf('a');
      });
    const answers = await Promise.all([ask(), ask(), ask()]);
    assert.equal(computed, 1);
    assert.equal(new Set(answers).size, 1);
    assert.equal(cache.get('a'), answers[0]);
  });

  it('drops what has an invalidated tag, and only that', async () => {
    const cache = new AnswerCache();
    await cache.compute({ key: 'a', tags: ['x', 'y'] }, makes('a'));
    await cache.compute({ key: 'b', tags: ['z'] }, makes('b'));
    cache.invalidate('y');
    assert.equal(cache.get('a'), undefined);
    assert.ok(cache.get('b'));
  });

  it('does not keep an answer that was invalidated while it was computed, and the next asker computes anew', async () => {
    const cache = new AnswerCache();
    const first = Promise.withResolvers<ReadyAnswer>();
    const asked = cache.compute({ key: 'a', tags: ['t'] }, () => first.promise);
    cache.invalidate('t');
    const fresh = cache.compute({ key: 'a', tags: ['t'] }, makes('new'));
    first.resolve(answerOf('old'));
    assert.equal((await asked).bytes.toString(), 'old');
    assert.equal((await fresh).bytes.toString(), 'new');
    assert.equal(cache.get('a')?.bytes.toString(), 'new');
    cache.invalidate('t');
    assert.equal(cache.get('a'), undefined, 'the tag still leads to it');
  });

  it('keeps an answer whose maker says that it read everything after the invalidation', async () => {
    const cache = new AnswerCache();
    await cache.compute({ key: 'a', tags: ['t'] }, async (readsAnew) => {
      cache.invalidate('t');
      readsAnew();
      return answerOf('a');
    });
    assert.ok(cache.get('a'));
  });

  it('keeps only the latest of two that were computed at once, and still finds it by its tag', async () => {
    for (const readsAgainAfter of [false, true]) {
      const cache = new AnswerCache();
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const early = cache.compute({ key: 'a', tags: ['t'] }, async (readsAnew) => {
        await first.promise;
        readsAnew();
        return answerOf('early');
      });
      cache.invalidate('t');
      const late = cache.compute({ key: 'a', tags: ['t'] }, async () => {
        await second.promise;
        return answerOf('late');
      });
      if (readsAgainAfter) cache.invalidate('t');
      first.resolve();
      await early;
      assert.equal(cache.get('a'), undefined, 'an answer that no invalidation reaches is not kept');
      second.resolve();
      await late;
      assert.equal(cache.get('a')?.bytes.toString(), readsAgainAfter ? undefined : 'late');
      cache.invalidate('t');
      assert.equal(cache.get('a'), undefined, 'the tag still leads to it');
    }
  });

  it('does not keep a failure', async () => {
    const cache = new AnswerCache();
    const failing = cache.compute({ key: 'a', tags: ['t'] }, () => Promise.reject(new Error('no')));
    await assert.rejects(failing, /no/);
    assert.equal((await cache.compute({ key: 'a', tags: ['t'] }, makes('yes'))).bytes.toString(), 'yes');
  });

  it('keeps no trace of a tag that leads nowhere any more', async () => {
    const cache = new AnswerCache({ maxBytes: 4_000 });
    for (let i = 0; i < 50; i += 1)
      await cache.compute({ key: `k${i}`, tags: [`t${i}`] }, async () => answerOf('x'.repeat(500)));
    assert.ok(cache.size <= 4, 'the least recently used are evicted');
    assert.ok(cache.get('k49') && !cache.get('k0'));
    assert.equal(cache.tagCount, cache.size, 'tags of what was evicted');
    await assert.rejects(cache.compute({ key: 'bad', tags: ['bad'] }, () => Promise.reject(new Error('no'))));
    await cache.compute({ key: 'stale', tags: ['stale'] }, async () => {
      cache.invalidate('stale');
      return answerOf('stale');
    });
    await cache.compute({ key: 'huge', tags: ['huge'] }, async () => answerOf('x'.repeat(5_000)));
    assert.equal(cache.tagCount, cache.size, 'tags of a failure, of a stale answer, of one too large to keep');
    for (let i = 0; i < 50; i += 1) cache.invalidate(`t${i}`);
    assert.deepEqual([cache.size, cache.tagCount], [0, 0]);
  });

  it('does not lose its way when the maker throws before it has a promise', async () => {
    const cache = new AnswerCache();
    const make = () => {
      throw new Error('at once');
    };
    await assert.rejects(cache.compute({ key: 'a', tags: ['t'] }, make), /at once/);
    await cache.compute({ key: 'a', tags: ['t'] }, makes('a'));
    cache.invalidate('t');
    assert.deepEqual([cache.size, cache.tagCount], [0, 0]);
  });

  it('replaces an answer of other tags without losing the new ones', async () => {
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

  it('serves what went stale for as long as the place allows, then computes anew, and once', async () => {
    let now = 0;
    let made = 0;
    const cache = new AnswerCache({ now: () => now });
    const place = { key: 'a', tags: ['t'], maxStaleMs: 1_000 };
    const ask = async () => (await cache.compute(place, async () => answerOf(String(++made)))).bytes.toString();
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

  it('computes anew what has reached its maximum age', async () => {
    let now = 0;
    let made = 0;
    const cache = new AnswerCache({ now: () => now });
    for (const [at, expected] of [
      [0, '1'],
      [59_999, '1'],
      [60_000, '2'],
    ] as const) {
      now = at;
      const answer = await cache.compute({ key: 'a', tags: [], maxAgeMs: 60_000 }, async () => answerOf(`${++made}`));
      assert.equal(answer.bytes.toString(), expected);
    }
  });
});
