// What a verifier that remembers accepts of a ledger, and what it refuses: forks and rollbacks of every small size, keys, names.
import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import * as fixture from '../test/fixture.ts';
import { treeRoot } from '../tree/proof.ts';
import { checkConsistency, type FetchTile } from './consistency.ts';
import { type CheckLedgerOptions, checkLedger } from './follow-ledger.ts';
import type { RememberedLedger } from './remembered-ledger.ts';

const { checkpointOver, history, keyTextOf, LEDGER_KEY, NOW, ORIGIN, readerOver, rotationNote, testKey, tilesOver } =
  fixture;

const rootOf = (leaves: readonly Uint8Array[]) => treeRoot(readerOver(leaves), leaves.length);
const headOf = async (of: readonly Uint8Array[]) => ({ origin: ORIGIN, size: of.length, root: await rootOf(of) });

it('consistency computed from tiles distinguishes a tree that grows from a fork at every leaf and from a rollback, for all small trees', async () => {
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

it('consistency computed from tiles works across tiles, asks for each once, and reads a full one where a partial one is missing', async () => {
  const leaves = history(515);
  for (const known of [1, 255, 256, 257, 511, 512, 514]) {
    const fetchTile = mock.fn(tilesOver(leaves));
    const [before, forked] = [await headOf(history(known)), await headOf(history(known, known - 1))];
    assert.equal(await checkConsistency(before, await headOf(leaves), fetchTile), 'ok', `${known}`);
    const asked = fetchTile.mock.calls.map((call) => call.arguments[0]);
    assert.equal(new Set(asked).size, asked.length);
    assert.equal(await checkConsistency(forked, await headOf(leaves), tilesOver(leaves)), 'fork', `${known}`);
  }
  const longer: FetchTile = async (path) => (path === 'tile/0/000' ? tilesOver(leaves)(path) : undefined);
  assert.equal(await checkConsistency(await headOf(history(5)), await headOf(history(9)), longer), 'ok');
});

it('consistency computed from tiles calls nothing a fork that the tiles do not prove', async () => {
  const [before, after] = [await headOf(history(5, 0)), await headOf(history(9))];
  const short: FetchTile = async (path) => (await tilesOver(history(9))(path))?.subarray(32);
  for (const fetchTile of [async () => undefined, short, tilesOver(history(9, 2))])
    assert.equal(await checkConsistency(before, after, fetchTile), 'unproved');
  const broken = () => Promise.reject(new Error('no connection'));
  await assert.rejects(checkConsistency(before, after, broken), /no connection/);
});

const SERVICE = 'https://strata.example';
const [FIRST, NEXT, LATER, FOREIGN] = [LEDGER_KEY, testKey(3), testKey(4), testKey(9)];

type Of = { size: number; forkedAt: number; key: fixture.TestKey; origin: string; service: string };
type Shown = Partial<Of & { rotations: readonly string[] } & Omit<CheckLedgerOptions, 'fetchTile'>>;

async function follow(remembered: unknown, shown: Shown = {}) {
  const { size = 7, forkedAt = size, key = FIRST, origin = ORIGIN, rotations = [], service = SERVICE } = shown;
  const leaves = history(size, forkedAt);
  const checkpoint = checkpointOver(size, (await headOf(leaves)).root, { origin, key });
  const keySet = { ledger: { origin, verifier_keys: [keyTextOf(key, origin)], rotations } };
  const options = { now: NOW, ...shown, fetchTile: tilesOver(leaves) };
  return checkLedger(remembered, { service, keySet, checkpoint }, options);
}

/** What is remembered after it was followed, which must be accepted. */
async function accepted(remembered: unknown, shown?: Shown): Promise<readonly RememberedLedger[]> {
  const judged = await follow(remembered, shown);
  assert.ok(judged.kind === 'ok', JSON.stringify(judged));
  return judged.ledgers;
}

const kindOf = async (remembered: unknown, shown?: Shown) => (await follow(remembered, shown)).kind;
const first = await accepted([]);

it('a remembered ledger is believed the first time, and held to what it showed from then on', async () => {
  assert.deepEqual([first.length, first[0]?.key, first[0]?.services], [1, keyTextOf(FIRST), [SERVICE]]);
  assert.equal(await accepted(first), first, 'nothing is new');
  const grown = await accepted(first, { size: 12 });
  for (const [text, kind] of Object.entries({ '12': 'ok', '11': 'rollback', '12 11': 'fork', '40 3': 'fork' })) {
    const [size = 0, forkedAt = size] = text.split(' ').map(Number);
    assert.equal(await kindOf(grown, { size, forkedAt }), kind, text);
    const [fresh] = await accepted(grown, { size, forkedAt, isReset: true });
    assert.match(fresh?.checkpoint ?? '', new RegExp(`\\n${size}\\n`));
  }
  for (const broken of [null, [null], [{}], [{ ...first[0], checkpoint: 'x' }], [{ ...first[0], key: 'x' }]])
    assert.equal(await kindOf(broken), 'unreadable');
});

it('a remembered ledger may change its key where the key that is remembered vouches for the new one, over several rotations too', async () => {
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

it('a remembered ledger is held to a key and to a checkpoint that are known from elsewhere', async () => {
  const given = { ledgerKey: keyTextOf(FIRST), key: NEXT, rotations: [rotationNote(FIRST, NEXT)] };
  // A given key replaces the remembered one; the leaves that were published stay.
  const foreign = { ledgerKey: keyTextOf(FOREIGN), key: FOREIGN };
  const noteOf = async (size: number, forkedAt = size) =>
    checkpointOver(size, (await headOf(history(size, forkedAt))).root);
  const elsewhere = checkpointOver(5, new Uint8Array(32), { origin: 'strata.example/other' });
  for (const [shown, kind] of [
    [given, 'ok'],
    [{ ...given, rotations: [] }, 'other-key'],
    [{ ledgerKey: 'no key' }, 'other-key'],
    [foreign, 'ok'],
    [{ ...foreign, size: 6 }, 'rollback'],
    [{ from: [await noteOf(5)] }, 'ok'],
    [{ from: [await noteOf(5, 4)] }, 'fork'],
    [{ from: [await noteOf(8)] }, 'rollback'],
    [{ from: [(await noteOf(5)).replace('\n5\n', '\n8\n')] }, 'unreadable'],
    [{ from: [elsewhere] }, 'unreadable'],
    [{ from: ['no note'] }, 'unreadable'],
  ] as const)
    assert.equal(await kindOf(first, shown), kind);
});

it('a remembered ledger is known by its name at every address, and by its key where many have the name; a service by its ledger', async () => {
  const mirror = { service: 'https://mirror.example' };
  assert.deepEqual((await accepted(first, mirror))[0]?.services, [mirror.service, SERVICE]);
  const renamed = { origin: 'strata.example/new' };
  // What listens on a port of this machine is another program from day to day.
  const [local, other] = [{ service: 'http://127.0.0.1:8787' }, { service: 'http://127.0.0.1:9999' }];
  const atPort = await accepted([], local);
  const named = { origin: 'localhost/strata/stack' };
  const here = await accepted([], { ...named, ...local });
  for (const [ledgers, shown, result] of [
    [first, { ...mirror, key: FOREIGN }, 'other-key'],
    [first, renamed, 'other-ledger'],
    [first, { ...renamed, ...mirror }, 2],
    [first, { ...renamed, isReset: true }, 1],
    [atPort, { ...renamed, ...local }, 2],
    [here, { ...named, ...local, key: FOREIGN }, 'other-key'],
    [here, { ...named, ...other, forkedAt: 3 }, 'fork'],
    [here, { ...named, ...other, key: FOREIGN }, 2],
  ] as const) {
    const judged = await follow(ledgers, shown);
    assert.equal(judged.kind === 'ok' ? judged.ledgers.length : judged.kind, result);
  }
});

it('a remembered ledger alone is forgotten by a reset, also where another entry cannot be read', async () => {
  const other = { origin: 'b.example', service: 'https://b.example' };
  const both = await accepted(first, { ...other, size: 9 });
  const reset = await accepted([...both, 'junk'], { isReset: true });
  const origins = reset.map(({ origin }) => origin);
  assert.deepEqual(origins, [ORIGIN, other.origin]);
  assert.equal(await kindOf(reset, { ...other, size: 9, forkedAt: 3 }), 'fork');
  const { detail, kind } = await follow(null, { isReset: true });
  assert.match(`${kind} ${detail}`, /^ok .+ all ledgers was unreadable and is discarded\.$/);
  assert.doesNotMatch((await follow([], { isReset: true })).detail, /all ledgers/);
});
