import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { offeredModel, offerOf } from '../test/offers.ts';
import { Directory } from './directory.ts';

const NOW = 1_800_000_000_000;
const asConnected = { nowMs: NOW, isConnected: true };
const strangerAt = (nowMs: number) => ({ nowMs, isConnected: false });
const asStranger = strangerAt(NOW);
const peersOf = (directory: Directory) => directory.workers().map(({ peer }) => peer);
/** So many different models. */
const modelsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => offeredModel({ sha256: i.toString(16).padStart(64, '0') }));

describe('directory', () => {
  it('keeps the newest offer of each worker, and no replay', () => {
    const directory = new Directory();
    assert.equal(directory.take(offerOf('w', { sequence: 5, running: 1 }, NOW), asConnected), 'taken');
    assert.equal(directory.take(offerOf('w', { sequence: 7, running: 2 }, NOW), asConnected), 'taken');
    // A later time does not replace a higher sequence.
    for (const sequence of [7, 6, 5, 0])
      assert.equal(directory.take(offerOf('w', { sequence, running: 9 }, NOW + 1_000), asConnected), 'replayed');
    assert.equal(directory.worker('w')?.offer.running, 2);
  });

  it('knows a worker as connected when its gossiped offer comes over its channel', () => {
    const directory = new Directory();
    const offer = offerOf('w', {}, NOW);
    directory.take(offer, asStranger);
    assert.equal(directory.worker('w')?.isConnected, false);
    assert.equal(directory.take(offer, asConnected), 'replayed');
    assert.equal(directory.worker('w')?.isConnected, true);
    // The other way round it stays what it is.
    directory.take(offer, asStranger);
    assert.equal(directory.worker('w')?.isConnected, true);
  });

  it('goes by its own clock, within what clocks may differ', () => {
    for (const [issued, expires, outcome] of [
      [119, 240, 'taken'],
      [121, 240, 'from-the-future'],
      [-200, -119, 'taken'],
      [-200, -121, 'expired'],
      [0, 0, 'expired'],
      [0, -5, 'expired'],
    ] as const) {
      const offer = offerOf('w', { issuedAtMs: NOW + issued * 1_000, expiresAtMs: NOW + expires * 1_000 }, NOW);
      assert.equal(new Directory().take(offer, asStranger), outcome);
    }
  });

  it('cuts a long life, and forgets at its end', () => {
    const directory = new Directory();
    directory.take(offerOf('eternal', { expiresAtMs: Number.MAX_SAFE_INTEGER }, NOW), asStranger);
    directory.take(offerOf('usual', { expiresAtMs: NOW + 120_000 }, NOW), asStranger);
    assert.equal(directory.worker('eternal')?.expiresAtMs, NOW + 600_000);
    directory.expire(NOW + 120_000);
    assert.deepEqual(peersOf(directory), ['eternal']);
    directory.expire(NOW + 600_000);
    assert.deepEqual(peersOf(directory), []);
  });

  it('takes so many offers of one worker in a minute and no more', () => {
    const directory = new Directory({ offersPerMinute: 3 });
    const outcomes = [1, 2, 3, 4, 5].map((sequence) => directory.take(offerOf('w', { sequence }, NOW), asConnected));
    assert.deepEqual(outcomes, ['taken', 'taken', 'taken', 'too-many', 'too-many']);
    const later = { nowMs: NOW + 60_000, isConnected: true };
    assert.equal(directory.take(offerOf('w', { sequence: 6 }, NOW), later), 'taken');
  });

  it('lets strangers that were not heard of lately give way, and no others', () => {
    const directory = new Directory({ mostWorkers: 3 });
    for (const peer of ['a', 'b', 'c']) directory.take(offerOf(peer, {}, NOW), asStranger);
    assert.equal(directory.take(offerOf('d', {}, NOW), asStranger), 'full');
    directory.take(offerOf('a', { sequence: 2 }, NOW), strangerAt(NOW + 50_000));
    assert.equal(directory.take(offerOf('d', {}, NOW), strangerAt(NOW + 60_000)), 'taken');
    assert.deepEqual(peersOf(directory), ['c', 'a', 'd']);
    for (const peer of ['x', 'y', 'z']) assert.equal(directory.take(offerOf(peer, {}, NOW), asConnected), 'taken');
    assert.equal(directory.take(offerOf('u', {}, NOW), asConnected), 'full');
    assert.equal(directory.take(offerOf('x', { sequence: 2 }, NOW), asConnected), 'taken');
  });

  it('bounds the models of all workers together', () => {
    const directory = new Directory({ mostModels: 100 });
    const models = modelsOf(64);
    assert.equal(directory.take(offerOf('a', { models }, NOW), asStranger), 'taken');
    assert.equal(directory.take(offerOf('b', { models }, NOW), asStranger), 'full');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 36) }, NOW), asStranger), 'taken');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 37), sequence: 2 }, NOW), asStranger), 'full');
    assert.equal(directory.take(offerOf('b', { models }, NOW), asConnected), 'taken');
    assert.equal(directory.worker('a'), undefined);
    assert.equal(directory.worker('c')?.offer.models.length, 36);
  });

  it('has room for what a connected worker offers, however much others do', () => {
    const directory = new Directory({ mostWorkers: 100, mostModels: 1_000 });
    const models = modelsOf(64);
    const say = (peer: string, count: number) =>
      directory.take(offerOf(peer, { models: models.slice(0, count) }, NOW), asConnected);
    const outcomes = Array.from({ length: 21 }, (_, i) => say(`greedy${i}`, 50));
    assert.equal(outcomes.at(-1), 'full');
    assert.equal(say('honest', 1), 'taken');
    assert.equal(say('moderate', 11), 'full');
  });

  it('lets others give way to a stranger that offers more than before, not itself', () => {
    const directory = new Directory({ mostModels: 100 });
    const models = modelsOf(64);
    for (const peer of ['a', 'b']) directory.take(offerOf(peer, { models: models.slice(0, 40) }, NOW), asStranger);
    const later = strangerAt(NOW + 61_000);
    assert.equal(directory.take(offerOf('a', { models, sequence: 2 }, NOW), later), 'taken');
    assert.deepEqual(peersOf(directory), ['a']);
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 37) }, NOW), later), 'full');
    assert.equal(directory.take(offerOf('c', { models: models.slice(0, 36) }, NOW), later), 'taken');
  });

  it('survives 100,000 offers of 50,000 invented workers: those that are there stay, and little is kept', () => {
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
    for (let i = 0; i < 100_000; i += 1) {
      // Five minutes of it, in which those that are really there say twice a minute that they are.
      if (i % 10_000 === 0) {
        nowMs = NOW + i * 3;
        say(honest, true);
        say(known, false);
      }
      const models = [offeredModel({ name: `fake-${i}` })];
      const offer = offerOf(`fake-${i % 50_000}`, { sequence: i, models }, nowMs);
      if (directory.take(offer, strangerAt(nowMs)) === 'full') full += 1;
    }
    assert.equal(directory.workers().length, 2_000);
    for (const peer of [...honest, ...known]) assert.ok(directory.worker(peer), peer);
    assert.ok(full > 90_000, `${full}`);
    const connected = [...directory.connected()].map(({ peer }) => peer);
    assert.deepEqual(connected, honest);
  });
});
