import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import type { Offer, OfferedModel } from '../protocol/offer.ts';
import { Directory } from './directory.ts';
import { modelGroups } from './model-groups.ts';
import { bindNames, isModelName, type ModelGroup } from './model-name.ts';

const offeredModel = (given: Partial<OfferedModel> = {}): OfferedModel => ({
  ...{ name: 'small-chat', sha256: 'aa'.repeat(32), vocabularySha256: 'bb'.repeat(32) },
  ...{ templateSha256: 'cc'.repeat(32), architecture: 'llama', quantisation: 'Q8_0', engine: 'llama.cpp' },
  ...{ sizeBytes: 1_000_000, parameters: 2_000_000, contextLength: 4_096, vocabularySize: 32_000 },
  ...{ longestToken: 32, slots: 4, prefillTokensPerSecond: 500, decodeTokensPerSecond: 50, ...given },
});

function offerOf(peer: string, given: Partial<Offer>, nowMs: number): Offer {
  const times = { sequence: 1, issuedAtMs: nowMs, expiresAtMs: nowMs + 120_000 };
  return { peer, ...times, software: 'strata', models: [offeredModel()], running: 0, waiting: 0, ...given };
}

const NOW = 1_800_000_000_000;
const asConnected = { nowMs: NOW, isConnected: true };
const disconnectedAt = (nowMs: number) => ({ nowMs, isConnected: false });
const disconnected = disconnectedAt(NOW);
const peersOf = (directory: Directory) => directory.workers().map(({ peer }) => peer);
const modelsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => offeredModel({ sha256: i.toString(16).padStart(64, '0') }));

describe('directory', () => {
  it('keeps the newest offer of each worker, and rejects replays', () => {
    const directory = new Directory();
    assert.equal(directory.take(offerOf('w', { sequence: 5, running: 1 }, NOW), asConnected), 'taken');
    assert.equal(directory.take(offerOf('w', { sequence: 7, running: 2 }, NOW), asConnected), 'taken');
    // A later time does not replace a higher sequence.
    for (const sequence of [7, 6, 5, 0])
      assert.equal(directory.take(offerOf('w', { sequence, running: 9 }, NOW + 1_000), asConnected), 'replayed');
    assert.equal(directory.worker('w')?.offer.running, 2);
  });
  it('marks a worker as connected when its gossiped offer arrives over its channel', () => {
    const directory = new Directory();
    const offer = offerOf('w', {}, NOW);
    directory.take(offer, disconnected);
    assert.deepEqual([directory.worker('w')?.isConnected, directory.take(offer, asConnected)], [false, 'taken']);
    assert.equal(directory.worker('w')?.isConnected, true);
    // In the opposite order nothing changes.
    directory.take(offer, disconnected);
    assert.equal(directory.worker('w')?.isConnected, true);
  });
  it('uses its own clock, tolerates clock skew in gossip, and ignores the clock of a connected worker', () => {
    const cases = casesOf<[number, number, string, string][]>('inference', 'clocks of offers');
    for (const [issued, expires, gossiped, connected] of cases) {
      const offer = offerOf('w', { issuedAtMs: NOW + issued * 1_000, expiresAtMs: NOW + expires * 1_000 }, NOW);
      assert.equal(new Directory().take(offer, disconnected), gossiped);
      const directory = new Directory();
      assert.equal(directory.take(offer, asConnected), connected);
      const lifeMs = (expires - issued) * 1_000;
      directory.expire(NOW + lifeMs - 1);
      assert.equal(directory.worker('w')?.expiresAtMs, connected === 'taken' ? NOW + lifeMs : undefined);
    }
  });
  it('keeps a worker connected whose next offer arrives by gossip first', () => {
    const directory = new Directory();
    directory.take(offerOf('w', {}, NOW), asConnected);
    assert.equal(directory.take(offerOf('w', { sequence: 2 }, NOW), disconnected), 'taken');
    assert.deepEqual(
      [...directory.connected()].map(({ offer }) => offer.sequence),
      [2],
    );
  });
  it('caps the lifetime of an offer, and drops it when it expires', () => {
    const directory = new Directory();
    directory.take(offerOf('eternal', { expiresAtMs: Number.MAX_SAFE_INTEGER }, NOW), disconnected);
    directory.take(offerOf('usual', { expiresAtMs: NOW + 120_000 }, NOW), disconnected);
    assert.equal(directory.worker('eternal')?.expiresAtMs, NOW + 600_000);
    directory.expire(NOW + 120_000);
    assert.deepEqual(peersOf(directory), ['eternal']);
    directory.expire(NOW + 600_000);
    assert.deepEqual(peersOf(directory), []);
  });
  it('limits the offers of one worker per minute', () => {
    const directory = new Directory({ offersPerMinute: 3 });
    const outcomes = [1, 2, 3, 4, 5].map((sequence) => directory.take(offerOf('w', { sequence }, NOW), asConnected));
    assert.deepEqual(outcomes, ['taken', 'taken', 'taken', 'too-many', 'too-many']);
    const later = { nowMs: NOW + 60_000, isConnected: true };
    assert.equal(directory.take(offerOf('w', { sequence: 6 }, NOW), later), 'taken');
  });
  it('evicts only disconnected workers that were not received recently', () => {
    const directory = new Directory({ maxWorkers: 3 });
    for (const peer of ['a', 'b', 'c']) directory.take(offerOf(peer, {}, NOW), disconnected);
    assert.equal(directory.take(offerOf('d', {}, NOW), disconnected), 'full');
    directory.take(offerOf('a', { sequence: 2 }, NOW), disconnectedAt(NOW + 50_000));
    assert.equal(directory.take(offerOf('d', {}, NOW), disconnectedAt(NOW + 60_000)), 'taken');
    assert.deepEqual(peersOf(directory), ['c', 'a', 'd']);
    for (const peer of ['x', 'y', 'z']) assert.equal(directory.take(offerOf(peer, {}, NOW), asConnected), 'taken');
    assert.equal(directory.take(offerOf('u', {}, NOW), asConnected), 'full');
    assert.equal(directory.take(offerOf('x', { sequence: 2 }, NOW), asConnected), 'taken');
  });
  it('bounds the models of all workers together', () => {
    const directory = new Directory({ maxModels: 100 });
    const models = modelsOf(64);
    assert.equal(directory.take(offerOf('a', { models }, NOW), disconnected), 'taken');
    assert.equal(directory.take(offerOf('b', { models }, NOW), disconnected), 'full');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 36) }, NOW), disconnected), 'taken');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 37), sequence: 2 }, NOW), disconnected), 'full');
    assert.equal(directory.take(offerOf('b', { models }, NOW), asConnected), 'taken');
    assert.deepEqual([directory.worker('a'), directory.worker('c')?.offer.models.length], [undefined, 36]);
  });
  it('has capacity for a connected worker’s offer, however much other workers offer', () => {
    const directory = new Directory({ maxWorkers: 100, maxModels: 1_000 });
    const models = modelsOf(64);
    const say = (peer: string, count: number) =>
      directory.take(offerOf(peer, { models: models.slice(0, count) }, NOW), asConnected);
    const outcomes = Array.from({ length: 21 }, (_, i) => say(`greedy${i}`, 50));
    assert.deepEqual([outcomes.at(-1), say('honest', 1), say('moderate', 11)], ['full', 'taken', 'full']);
  });
  it('evicts other workers, not the sender, for a disconnected worker that offers more than before', () => {
    const directory = new Directory({ maxModels: 100 });
    const models = modelsOf(64);
    for (const peer of ['a', 'b']) directory.take(offerOf(peer, { models: models.slice(0, 40) }, NOW), disconnected);
    const later = disconnectedAt(NOW + 61_000);
    assert.equal(directory.take(offerOf('a', { models, sequence: 2 }, NOW), later), 'taken');
    assert.deepEqual(peersOf(directory), ['a']);
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 37) }, NOW), later), 'full');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 36) }, NOW), later), 'taken');
  });
  it('survives 20,000 offers of 10,000 invented workers: connected workers stay, and the size is bounded', () => {
    const directory = new Directory();
    const honest = Array.from({ length: 100 }, (_, i) => `honest-${i}`);
    const known = Array.from({ length: 500 }, (_, i) => `known-${i}`);
    let nowMs = NOW;
    const say = (peers: readonly string[], isConnected: boolean) => {
      for (const peer of peers) directory.take(offerOf(peer, { sequence: nowMs }, nowMs), { nowMs, isConnected });
    };
    say(honest, true);
    say(known, false);
    let full = 0;
    for (let i = 0; i < 20_000; i += 1) {
      // Five minutes, in which the real workers send an offer twice a minute.
      if (i % 2_000 === 0) {
        nowMs = NOW + i * 15;
        say(honest, true);
        say(known, false);
      }
      const models = [offeredModel({ name: `fake-${i}` })];
      const offer = offerOf(`fake-${i % 10_000}`, { sequence: i, models }, nowMs);
      if (directory.take(offer, disconnectedAt(nowMs)) === 'full') full += 1;
    }
    assert.equal(directory.workers().length, 2_000);
    for (const peer of [...honest, ...known]) assert.ok(directory.worker(peer), peer);
    assert.ok(full > 10_000, `${full}`);
    const connected = [...directory.connected()].map(({ peer }) => peer);
    assert.deepEqual(connected, honest);
  });
});

const digest = (digit: string) => digit.repeat(64);
const worker = (peer: string, models: readonly Partial<OfferedModel>[]) => {
  return { peer, offer: { models: models.map(offeredModel) } };
};
const weigh = () => 1;
const { name, architecture, quantisation, sizeBytes, parameters, engine, contextLength } = offeredModel();
const right = { name, architecture, quantisation, sizeBytes, parameters, engine, contextLength };

it('model groups combine workers with the same file and the same vocabulary', () => {
  const [one, two] = [{ sha256: digest('1') }, { sha256: digest('2') }];
  const liar = worker('liar', [{ ...two, vocabularySha256: digest('f') }]);
  const groups = modelGroups([worker('a', [one, two]), worker('b', [two]), liar], { weigh });
  const found = groups.map(({ sha256, peers, weight }) => `${sha256[0]} ${peers} ${weight}`);
  assert.deepEqual(found, ['2 a,b 2', '1 a 1', '2 liar 1']);
});
it('model groups show the most frequent description of a file, and the largest context', () => {
  const texts = { name: 'evil', architecture: 'x', engine: 'y', quantisation: 'z' };
  // A worker that lists a file repeatedly is counted once.
  const again = Array.from({ length: 64 }, () => texts);
  for (const lies of [[texts], [{ contextLength: 1 }], [{ sizeBytes: 0, parameters: 0 }], again]) {
    const [group] = modelGroups([worker('liar', lies), worker('a', [{}]), worker('b', [{}])], { weigh });
    assert.deepEqual([group?.model, group?.name, group?.peers.length], [right, 'small-chat', 3]);
  }
  const tied = [worker('b', [{ engine: 'b' }]), worker('a', [{ engine: 'a' }]), worker('c', [{ engine: 'c' }])];
  assert.equal(modelGroups(tied, { weigh })[0]?.model.engine, 'a', 'of equally frequent ones, the smallest');
  const [group] = modelGroups([worker('large', [{ contextLength: 9_000 }]), worker('a', [{}])], { weigh });
  assert.equal(group?.model.contextLength, 9_000);
});

const newWorkers = Array.from({ length: 50 }, (_, i) => worker(`new${i}`, [{ name: 'evil', contextLength: 9_999 }]));
it('model groups ignore new workers beside workers with a good reputation, and exclude untrusted and quarantined workers', () => {
  const trust = (peer: string) => (peer.startsWith('new') ? 0.5 : 1);
  const [group] = modelGroups([...newWorkers, worker('a', [{}])], { weigh: trust });
  assert.deepEqual(group?.model, right);
  assert.deepEqual([group?.peers.length, group?.weight], [51, 26]);
  assert.equal(modelGroups(newWorkers, { weigh: trust })[0]?.name, 'evil');
  assert.deepEqual(modelGroups(newWorkers, { weigh: () => 0 }), []);
});
it('model groups keep their name while one worker with a good reputation uses it, however many new workers join', () => {
  const nameOf = () => 'small-chat';
  assert.equal(modelGroups([...newWorkers, worker('a', [{}])], { weigh, nameOf })[0]?.name, 'small-chat');
  assert.equal(modelGroups(newWorkers, { weigh, nameOf })[0]?.name, 'evil');
});
it('model groups ignore invalid names', () => {
  const hostile = worker('liar', [{ name: '../../etc/passwd' }]);
  const groups = modelGroups([hostile, { ...hostile, peer: 'other' }, worker('a', [{}])], { weigh });
  assert.deepEqual([groups[0]?.name, modelGroups([hostile], { weigh })[0]?.name], ['small-chat', '']);
});

describe('names of models', () => {
  it('are safe in every context', () => {
    for (const name of ['llama', 'Qwen2.5-0.5B-Instruct-Q8_0.gguf', 'hf:org/repo:Q4_K_M', 'a/b', 'x'.repeat(128)])
      assert.ok(isModelName(name), name);
    const hostile = ['', ' ', 'a b', '../x', 'a/../b', 'a..b', '/a', 'a/', 'a//b', '-rf', '.x', 'a\n', 'a\u0000', 'ä'];
    for (const name of [...hostile, 'x'.repeat(129), '<b>', '$(x)', "a'", 'a@123', '__proto__', '\u202egpt'])
      assert.ok(!isModelName(name), JSON.stringify(name));
  });

  const group = (sha256: string, name: string, weight: number): ModelGroup => ({
    ...{ sha256: digest(sha256), vocabularySha256: digest('b'), name, model: { ...right, name }, weight },
    peers: Array.from({ length: Math.ceil(weight) }, (_, i) => `${sha256}${i}`),
  });
  const none: ReadonlyMap<string, string> = new Map();
  const bind = (groups: readonly ModelGroup[], more: Partial<Parameters<typeof bindNames>[1]> = {}) => {
    const { models, bound } = bindNames(groups, { pinned: none, bound: new Map(), nowMs: 0, ...more });
    return { ids: Object.fromEntries([...models].map(([id, { sha256 }]) => [id, sha256[0]])), bound, models };
  };

  it('refer to the file with the most trusted workers; another file has a suffix', () => {
    const { ids, bound } = bind([group('1', 'chat', 2), group('2', 'chat', 3), group('3', 'code', 0.5)]);
    assert.deepEqual(ids, { chat: '2', 'chat@111111111111': '1', code: '3' });
    assert.deepEqual([...bound.keys()].sort(), ['chat', 'code']);
  });
  it('keep their file until another one has twice the weight', () => {
    const { bound } = bind([group('1', 'chat', 2)]);
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 3)], { bound }).ids.chat, '1');
    assert.equal(bind([group('1', 'chat', 2), group('2', 'chat', 4)], { bound }).ids.chat, '2');
  });
  it('are kept for offline workers with their previous weight, for at most two minutes', () => {
    const { bound } = bind([group('1', 'chat', 1)]);
    // A different file with the same name, while the only worker restarts: it is served with a suffix.
    const away = bind([group('2', 'chat', 0.5)], { bound, nowMs: 100_000 });
    assert.deepEqual(away.ids, { 'chat@222222222222': '2' });
    const back = bind([group('1', 'chat', 0.5), group('2', 'chat', 1)], { bound: away.bound, nowMs: 110_000 });
    assert.equal(back.ids.chat, '1');
    assert.equal(bind([group('2', 'chat', 0.5)], { bound: away.bound, nowMs: 121_000 }).ids.chat, '2');
    // Most of many workers are offline.
    const many = bind([group('1', 'chat', 10)]);
    const few = bind([group('1', 'chat', 1), group('2', 'chat', 15)], { bound: many.bound, nowMs: 60_000 });
    assert.equal(few.ids.chat, '1');
    assert.equal(bind([group('1', 'chat', 1)], { bound: few.bound, nowMs: 130_000 }).bound.get('chat')?.weight, 1);
  });
  it('are kept for a bounded number of offline workers', () => {
    const numbered = (i: number) => ({ ...group('1', `m${i}`, 1), sha256: i.toString(16).padStart(64, '0') });
    const { bound } = bind(Array.from({ length: 20_000 }, (_, i) => numbered(i)));
    assert.equal(bind([], { bound, nowMs: 1 }).bound.size, 10_000);
  });
  it('refer to the pinned file, even if no worker has it', () => {
    const pinned = new Map([['chat', digest('1')]]);
    const { ids } = bind([group('1', 'other', 1), group('2', 'chat', 9)], { pinned });
    assert.deepEqual(ids, { chat: '1', 'chat@222222222222': '2', other: '1' });
    assert.deepEqual(bind([group('2', 'chat', 9)], { pinned }).ids, { 'chat@222222222222': '2' });
    const own = bind([group('1', 'chat', 1), group('2', 'chat', 9)], { pinned: new Map([['own', digest('1')]]) });
    assert.deepEqual(own.ids, { own: '1', chat: '2' });
  });
  it('are not assigned to files without a name or twice to one file, whose vocabulary does not change', () => {
    assert.deepEqual(bind([group('1', '', 3)]).ids, {});
    const liar = { ...group('1', 'chat', 1), vocabularySha256: digest('f') };
    const [two, few] = [group('1', 'chat', 2), group('1', 'chat', 0.8)];
    const { bound } = bind([few]);
    for (const groups of [[liar, two] as const, [two, liar] as const, [liar, few] as const]) {
      const { models } = bind(groups, { bound });
      assert.deepEqual([...models.keys()], ['chat']);
      assert.equal(models.get('chat')?.vocabularySha256, digest('b'));
    }
    const alone = bind([liar], { bound });
    assert.deepEqual([...alone.models.keys()], ['chat@111111111111']);
    assert.equal(alone.bound.get('chat')?.vocabularySha256, digest('b'));
  });
});
