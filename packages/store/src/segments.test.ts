// Accounts of segments: each counted once, settled once, summed exactly, and read by an index.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type SegmentRecord } from './index.ts';
import { SegmentTable } from './segments.ts';
import { databases, kept, onEach } from './test/places.ts';
import { plansOf } from './test/plans.ts';

const DAY_MS = 86_400_000;
const T0 = Date.UTC(2026, 0, 31);
const nonceOf = (n: number) => {
  const nonce = new Uint8Array(16);
  new DataView(nonce.buffer).setUint32(12, n);
  return nonce;
};
const SIGNATURE = new Uint8Array(64).fill(1);

const segment = (n: number, more: Partial<SegmentRecord> = {}): SegmentRecord => ({
  ...{ nonce: nonceOf(n), worker: 'worker-a', gateway: 'gateway', caller: 'key_a', modelSha256: 'a'.repeat(64) },
  ...{ promptTokens: 100, cachedTokens: 40, outputTokens: 7, endedAtMs: T0 + n, receipt: Uint8Array.of(8, 1, n) },
  ...{ workerSignature: new Uint8Array(64).fill(2), gatewaySignature: undefined },
  ...more,
});

onEach(databases, 'segments', (place) => {
  it('come back as they were kept, newest first, page by page', async () => {
    await using store = await openStore(await place.fresh());
    const kept = [segment(1), segment(2, { caller: undefined }), segment(3, { gatewaySignature: SIGNATURE })];
    for (const one of kept) assert.equal(await store.segments.put(one), true);
    assert.deepEqual(await store.segments.list({ limit: 10 }), kept.toReversed());
    for (const one of kept) assert.deepEqual(await store.segments.get(one.nonce), one);
    assert.equal(await store.segments.get(nonceOf(77)), undefined);
    assert.deepEqual(await store.segments.list({ limit: 1 }), [kept[2]]);
    assert.deepEqual(await store.segments.list({ limit: 1, before: nonceOf(3) }), [kept[1]]);
    assert.deepEqual(await store.segments.list({ limit: 9, before: nonceOf(1) }), []);
    assert.deepEqual(await store.segments.list({ limit: 9, before: nonceOf(77) }), []);
  });

  it('count once: a second receipt with the same nonce changes nothing, whatever it says', async () => {
    await using store = await openStore(await place.fresh());
    const first = segment(1);
    const another = segment(1, { worker: 'worker-b', outputTokens: 1_000_000, gatewaySignature: SIGNATURE });
    assert.equal(await store.segments.put(first), true);
    const puts = await Promise.all([first, another].map((one) => store.segments.put(one)));
    assert.deepEqual(puts, [false, false]);
    assert.deepEqual(await store.segments.list({ limit: 10 }), [first]);
    assert.equal((await store.segments.totals({ by: 'worker' }))[0]?.outputTokens, 7);
  });

  it('are settled once, and only where there is something to settle', async () => {
    await using store = await openStore(await place.fresh());
    await store.segments.put(segment(1));
    assert.equal(await store.segments.settle(nonceOf(2), SIGNATURE), false);
    const signatures = [SIGNATURE, new Uint8Array(64)];
    const settled = await Promise.all(signatures.map((signature) => store.segments.settle(nonceOf(1), signature)));
    assert.deepEqual(settled.toSorted(), [false, true]);
    const gatewaySignature = signatures[settled.indexOf(true)];
    assert.deepEqual(await store.segments.list({ limit: 10 }), [segment(1, { gatewaySignature })]);
    assert.equal(await store.segments.settle(nonceOf(1), SIGNATURE), false);
  });

  it('lose their proofs when they are old, some at a time, and are counted as before', async () => {
    await using store = await openStore(await place.fresh());
    for (let n = 0; n < 10; n += 1)
      await store.segments.put(segment(n, n % 2 === 0 ? { gatewaySignature: SIGNATURE } : {}));
    const totals = await store.segments.totals({ by: 'worker' });
    const forgotten: number[] = [];
    for (let i = 0; i < 3; i += 1) forgotten.push(await store.segments.forgetProofs(T0 + 6, 4));
    assert.deepEqual(forgotten, [4, 2, 0]);
    assert.deepEqual(await store.segments.totals({ by: 'worker' }), totals);
    const none = new Uint8Array();
    const bare = { receipt: none, workerSignature: none };
    assert.deepEqual(await store.segments.get(nonceOf(5)), segment(5, bare));
    assert.deepEqual(await store.segments.get(nonceOf(4)), segment(4, { ...bare, gatewaySignature: none }));
    assert.deepEqual(await store.segments.get(nonceOf(7)), segment(7));
    assert.equal(await store.segments.put(segment(5)), false, 'a nonce counts once all the same');
  });
});

onEach(kept, 'segments', (place) => {
  it('count once also when two keep them in the same place', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using other = await openStore(url);
    const nonces = Array.from({ length: 50 }, (_, n) => n);
    const puts = await Promise.all(
      nonces.flatMap((n) => [one, other].map((store, at) => store.segments.put(segment(n, { outputTokens: at })))),
    );
    assert.equal(puts.filter((isNew) => isNew).length, 50);
    const [total] = await one.segments.totals({ by: 'gateway' });
    assert.equal(total?.segments, 50);
  });
});

onEach(databases, 'totals', (place) => {
  it('are exact by worker, gateway, caller, model and day, over any span', async () => {
    await using store = await openStore(await place.fresh());
    const segments = Array.from({ length: 210 }, (_, n) =>
      segment(n, {
        worker: `worker-${n % 7}`,
        gateway: `gateway-${n % 2}`,
        caller: n % 3 === 0 ? undefined : `key_${n % 3}`,
        modelSha256: String(n % 5).repeat(64),
        promptTokens: 1_000_000 - n,
        cachedTokens: n,
        outputTokens: n * n,
        endedAtMs: T0 + n * 2_500_003,
        gatewaySignature: n % 4 === 0 ? SIGNATURE : undefined,
      }),
    );
    for (const one of segments) await store.segments.put(one);
    const keys: Record<'worker' | 'gateway' | 'caller' | 'model' | 'day', (one: SegmentRecord) => string> = {
      worker: ({ worker }) => worker,
      gateway: ({ gateway }) => gateway,
      caller: ({ caller }) => caller ?? '',
      model: ({ modelSha256 }) => modelSha256,
      day: ({ endedAtMs }) => new Date(endedAtMs).toISOString().slice(0, 10),
    };
    const spans = [
      {},
      { fromMs: T0 + DAY_MS },
      { toMs: T0 + DAY_MS },
      { fromMs: T0 + 2_500_003, toMs: T0 + 3 * 2_500_003 },
      { fromMs: T0 + DAY_MS, toMs: T0 + DAY_MS },
    ];
    for (const by of ['worker', 'gateway', 'caller', 'model', 'day'] as const)
      for (const span of spans) {
        const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = span as { fromMs?: number; toMs?: number };
        const within = segments.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < toMs);
        const expected = [...Map.groupBy(within, keys[by])]
          .map(([key, group]) => {
            const sum = (of: (one: SegmentRecord) => number) => group.reduce((total, one) => total + of(one), 0);
            const [promptTokens, cachedTokens] = [sum((one) => one.promptTokens), sum((one) => one.cachedTokens)];
            const [outputTokens, settled] = [
              sum((one) => one.outputTokens),
              sum((one) => (one.gatewaySignature ? 1 : 0)),
            ];
            return { key, segments: group.length, settled, promptTokens, cachedTokens, outputTokens };
          })
          .sort((a, b) => (a.key < b.key ? -1 : 1));
        assert.deepEqual(await store.segments.totals({ by, ...span }), expected, `${by} ${JSON.stringify(span)}`);
      }
  });
});

onEach(kept, 'totals', (place) => {
  it('and lists go by an index', async () => {
    const url = await place.fresh();
    {
      await using store = await openStore(url);
      for (let n = 0; n < 300; n += 1) await store.segments.put(segment(n));
    }
    const plans = await plansOf(url, async (db) => {
      const segments = new SegmentTable(db);
      for (const by of ['worker', 'gateway', 'caller', 'model', 'day'] as const)
        await segments.totals({ by, fromMs: T0 + 1, toMs: T0 + 3 });
      await segments.settle(nonceOf(1), SIGNATURE);
      await segments.list({ limit: 3, before: nonceOf(200) });
      await segments.get(nonceOf(1));
      await segments.forgetProofs(T0 + 3, 2);
    });
    assert.equal(plans.length, 18);
    for (const { sql, scans, indexes, isSorted, text } of plans) {
      assert.deepEqual(scans, [], `${sql}\n${text}`);
      assert.ok(indexes.length > 0, `${sql}\n${text}`);
      if (sql.includes('length(receipt)')) assert.ok(indexes.includes('segments_proved'), text);
      if (sql.includes('sum(')) assert.ok(indexes.includes('segments_ended'), text);
      if (sql.includes('"seq" desc')) assert.equal(isSorted, false, `${sql}\n${text}`);
    }
  });
});

onEach(databases, 'standings', (place) => {
  it('are the last that was said of each peer', async () => {
    await using store = await openStore(await place.fresh());
    assert.deepEqual(await store.standings.all(), new Map());
    await store.standings.put('a', '1');
    await store.standings.put('b', '2');
    await store.standings.put('a', '3');
    assert.deepEqual(Object.fromEntries(await store.standings.all()), { a: '3', b: '2' });
  });
});
