// What a verifier that remembers accepts of a ledger, and what it refuses: forks and rollbacks of every small size, keys, names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Consistency, checkConsistency, type FetchTile } from './consistency.ts';
import { type FollowOptions, followLedger } from './follow-ledger.ts';
import { treeRoot } from './proof.ts';
import type { RememberedLedger } from './remembered-ledger.ts';
import * as fixture from './test/fixture.ts';

const { bytesOf, checkpointOver, keyTextOf, LEDGER_KEY, NOW, ORIGIN, readerOver, rotationNote, testKey, tilesOver } =
  fixture;

/** Leaves of a history that leaves the first one at a leaf. */
const history = (size: number, forkedAt = size) =>
  Array.from({ length: size }, (_, at) => bytesOf(`${at >= forkedAt ? 'other ' : ''}leaf ${at}`));
const headOf = async (leaves: readonly Uint8Array[]) => ({
  ...{ origin: ORIGIN, size: leaves.length },
  root: await treeRoot(readerOver(leaves), leaves.length),
});
const noTiles: FetchTile = async () => undefined;

describe('consistency computed from tiles', () => {
  it('tells a tree that grows from a fork at every leaf and from a rollback, for all small trees', async () => {
    for (let known = 0; known <= 9; known++) {
      const before = await headOf(history(known));
      for (let size = 0; size <= 9; size++)
        for (let forkedAt = 0; forkedAt <= size; forkedAt++) {
          const leaves = history(size, forkedAt);
          const expected = size < known ? 'rollback' : forkedAt < known ? 'fork' : 'ok';
          const found = await checkConsistency(before, await headOf(leaves), tilesOver(leaves));
          assert.equal(found, expected, `${known} to ${size}, forked at ${forkedAt}`);
        }
    }
  });

  it('works across tiles, with a full tile where a partial one is gone, and asks for each once', async () => {
    const leaves = history(515);
    const asked: string[] = [];
    const withoutPartial: FetchTile = async (path) => {
      asked.push(path);
      return path.includes('.p/') && path.startsWith('tile/0/000') ? undefined : tilesOver(leaves)(path);
    };
    for (const known of [1, 255, 256, 257, 511, 512, 514]) {
      asked.length = 0;
      const before = await headOf(history(known));
      assert.equal(await checkConsistency(before, await headOf(leaves), withoutPartial), 'ok', `${known}`);
      assert.equal(new Set(asked).size, asked.length);
      const forked = await headOf(history(known, known - 1));
      assert.equal(await checkConsistency(forked, await headOf(leaves), tilesOver(leaves)), 'fork', `${known}`);
    }
    const small = history(9);
    const longer: FetchTile = async (path) => (path === 'tile/0/000' ? tilesOver(leaves)(path) : undefined);
    assert.equal(await checkConsistency(await headOf(history(5)), await headOf(small), longer), 'ok');
  });

  it('calls nothing a fork that the tiles do not prove', async () => {
    const [before, after] = [await headOf(history(5, 0)), await headOf(history(9))];
    const short: FetchTile = async (path) => (await tilesOver(history(9))(path))?.subarray(32);
    for (const fetchTile of [noTiles, short, tilesOver(history(9, 2))])
      assert.equal(await checkConsistency(before, after, fetchTile), 'unproved');
    const broken = new Error('no connection');
    await assert.rejects(
      checkConsistency(before, after, () => Promise.reject(broken)),
      broken,
    );
  });
});

const SERVICE = 'https://strata.example';
const [FIRST, NEXT, LATER, FOREIGN] = [LEDGER_KEY, testKey(3), testKey(4), testKey(9)];

interface Shown extends Partial<Omit<FollowOptions, 'fetchTile'>> {
  readonly size?: number;
  readonly forkedAt?: number;
  readonly key?: fixture.TestKey;
  readonly origin?: string;
  readonly rotations?: readonly string[];
  readonly service?: string;
}

async function follow(remembered: unknown, shown: Shown = {}) {
  const { size = 7, forkedAt = size, key = FIRST, origin = ORIGIN, rotations = [], service = SERVICE } = shown;
  const leaves = history(size, forkedAt);
  const checkpoint = checkpointOver(size, (await headOf(leaves)).root, { origin, key });
  const keySet = { ledger: { origin, verifier_keys: [keyTextOf(key, origin)], rotations } };
  const options = { now: NOW, ...shown, fetchTile: tilesOver(leaves) };
  return followLedger(remembered, { service, keySet, checkpoint }, options);
}

/** What is remembered after it was followed, which must be accepted. */
async function accepted(remembered: unknown, shown?: Shown): Promise<readonly RememberedLedger[]> {
  const judged = await follow(remembered, shown);
  assert.ok(judged.kind === 'ok', JSON.stringify(judged));
  return judged.ledgers;
}

const kindOf = async (remembered: unknown, shown?: Shown) => (await follow(remembered, shown)).kind;
const sizesOf = (ledgers: readonly RememberedLedger[]) =>
  ledgers.map(({ checkpoint }) => Number(checkpoint.split('\n')[1]));

const first = await accepted([]);

describe('a remembered ledger', () => {
  it('is believed the first time, and held to what it showed from then on', async () => {
    assert.deepEqual([sizesOf(first), first[0]?.key, first[0]?.services], [[7], keyTextOf(FIRST), [SERVICE]]);
    assert.equal(await accepted(first), first, 'nothing is new');
    const grown = await accepted(first, { size: 12 });
    assert.deepEqual(sizesOf(grown), [12]);
    const refusals: readonly (readonly [Shown, Consistency])[] = [
      [{ size: 11 }, 'rollback'],
      [{ size: 12, forkedAt: 11 }, 'fork'],
      [{ size: 40, forkedAt: 3 }, 'fork'],
    ];
    for (const [shown, kind] of refusals) {
      const judged = await follow(grown, shown);
      assert.deepEqual([judged.kind, 'known' in judged && judged.known], [kind, grown[0]?.checkpoint]);
      assert.deepEqual(sizesOf(await accepted(grown, { ...shown, isReset: true })), [shown.size]);
    }
    for (const broken of [null, [null], [{}], [{ ...first[0], checkpoint: 'x' }], [{ ...first[0], key: 'x' }]]) {
      assert.equal(await kindOf(broken), 'unreadable');
      assert.deepEqual(sizesOf(await accepted(broken, { isReset: true })), [7]);
    }
  });

  it('may change its key where the key that is remembered vouches for the new one, over several rotations too', async () => {
    const rotations = [rotationNote(NEXT, LATER), rotationNote(FIRST, NEXT)];
    assert.equal(await kindOf(first, { key: FOREIGN }), 'other-key');
    for (const note of [
      rotationNote(FOREIGN, FOREIGN),
      rotationNote(NEXT, FOREIGN),
      rotationNote(FIRST, FOREIGN, { notAfter: NOW.toISOString() }),
      rotationNote(FIRST, FOREIGN, { origin: 'strata.example/other' }),
      'no note',
    ])
      assert.equal(await kindOf(first, { key: FOREIGN, rotations: [note] }), 'other-key', note);
    const rotated = await accepted(first, { key: LATER, size: 9, rotations });
    assert.equal(rotated[0]?.key, keyTextOf(LATER));
    assert.equal(await kindOf(first, { key: LATER, size: 9, forkedAt: 6, rotations }), 'fork');
    // A node that does not have the new key yet signs with the old one for five minutes.
    assert.equal(await accepted(rotated, { size: 9 }), rotated);
    const afterwards = { now: new Date(NOW.getTime() + 300_000) };
    assert.equal(await kindOf(rotated, { size: 9, ...afterwards }), 'other-key');
    assert.equal(await kindOf(rotated, { size: 10, key: LATER, ...afterwards }), 'ok');
  });

  it('is held to a key and to a checkpoint that are known from elsewhere', async () => {
    const rotations = [rotationNote(FIRST, NEXT)];
    const given = { ledgerKey: keyTextOf(FIRST) };
    assert.equal(await kindOf([], { ...given, key: NEXT, rotations }), 'ok');
    for (const ledgerKey of [keyTextOf(FOREIGN), 'no key'])
      assert.equal(await kindOf([], { ledgerKey }), 'other-key', ledgerKey);
    // The key is believed in place of the remembered one; the leaves that were published stay.
    const foreign = { ledgerKey: keyTextOf(FOREIGN), key: FOREIGN };
    assert.deepEqual([await kindOf(first, foreign), await kindOf(first, { ...foreign, size: 6 })], ['ok', 'rollback']);
    const noteOf = async (size: number, forkedAt = size) =>
      checkpointOver(size, (await headOf(history(size, forkedAt))).root);
    for (const [note, kind] of [
      [await noteOf(5), 'ok'],
      [await noteOf(5, 4), 'fork'],
      [await noteOf(8), 'rollback'],
      [checkpointOver(5, new Uint8Array(32), { origin: 'strata.example/other' }), 'unreadable'],
      ['no note', 'unreadable'],
    ] as const)
      assert.equal(await kindOf(first, { from: [note] }), kind);
  });

  it('is known by its name at every address, and a service is known by the name of its ledger', async () => {
    const mirrored = await accepted(first, { service: 'https://mirror.example' });
    assert.deepEqual(mirrored[0]?.services, ['https://mirror.example', SERVICE]);
    assert.equal(await kindOf(first, { service: 'https://mirror.example', key: FOREIGN }), 'other-key');
    const renamed = { origin: 'strata.example/new' };
    assert.equal(await kindOf(first, renamed), 'other-ledger');
    assert.equal((await accepted(first, { ...renamed, service: 'https://other.example' })).length, 2);
    assert.deepEqual(
      (await accepted(first, { ...renamed, isReset: true })).map(({ origin }) => origin),
      ['strata.example/new'],
    );
    // What listens on a port of this machine is another program from day to day.
    const local = await accepted([], { service: 'http://127.0.0.1:8787' });
    assert.equal((await accepted(local, { ...renamed, service: 'http://127.0.0.1:8787' })).length, 2);
  });

  it('with a default name, which many have, is known by its key and its address', async () => {
    const named = { origin: 'localhost/strata/stack', service: 'http://127.0.0.1:8787' };
    const here = await accepted([], named);
    assert.equal(await kindOf(here, { ...named, key: FOREIGN }), 'other-key');
    const there = { ...named, service: 'http://127.0.0.1:9999' };
    assert.equal(await kindOf(here, { ...there, forkedAt: 3 }), 'fork', 'a copy of it went on');
    assert.equal((await accepted(here, { ...there, key: FOREIGN })).length, 2);
  });
});
