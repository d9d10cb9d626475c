import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { offeredModel, offerOf } from '../test/offers.ts';
import { Directory, type OfferOutcome } from './directory.ts';
import type { Offer } from './frame.ts';

const NOW = 1_800_000_000_000;
const asStranger = { nowMs: NOW, isConnected: false };
const asConnected = { nowMs: NOW, isConnected: true };
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
    const outcome = (issuedAtMs: number, expiresAtMs: number): OfferOutcome =>
      new Directory().take(offerOf('w', { issuedAtMs, expiresAtMs }, NOW), asStranger);
    assert.equal(outcome(NOW + 119_000, NOW + 240_000), 'taken');
    assert.equal(outcome(NOW + 121_000, NOW + 240_000), 'from-the-future');
    assert.equal(outcome(NOW - 200_000, NOW - 119_000), 'taken');
    assert.equal(outcome(NOW - 200_000, NOW - 121_000), 'expired');
    assert.equal(outcome(NOW, NOW), 'expired');
    assert.equal(outcome(NOW, NOW - 5_000), 'expired');
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
    directory.take(offerOf('a', { sequence: 2 }, NOW), { nowMs: NOW + 50_000, isConnected: false });
    assert.equal(directory.take(offerOf('d', {}, NOW), { nowMs: NOW + 60_000, isConnected: false }), 'taken');
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
      directory.take(offerOf(peer, { models: models.slice(0, count) }, NOW), { nowMs: NOW, isConnected: true });
    const outcomes = Array.from({ length: 21 }, (_, i) => say(`greedy${i}`, 50));
    assert.equal(outcomes.at(-1), 'full');
    assert.equal(say('honest', 1), 'taken');
    assert.equal(say('moderate', 11), 'full');
  });

  it('lets others give way to a stranger that offers more than before, not itself', () => {
    const directory = new Directory({ mostModels: 100 });
    const models = modelsOf(64);
    for (const peer of ['a', 'b']) directory.take(offerOf(peer, { models: models.slice(0, 40) }, NOW), asStranger);
    const later = { nowMs: NOW + 61_000, isConnected: false };
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
    const flood: Offer[] = Array.from({ length: 100_000 }, (_, i) =>
      offerOf(`fake-${i % 50_000}`, { sequence: i, models: [offeredModel({ name: `fake-${i}` })] }, NOW),
    );
    const outcomes = new Map<OfferOutcome, number>();
    for (const [i, offer] of flood.entries()) {
      // Five minutes of it, in which those that are really there say twice a minute that they are.
      if (i % 10_000 === 0) {
        nowMs = NOW + i * 3;
        say(honest, true);
        say(known, false);
      }
      const timed = { ...offer, issuedAtMs: nowMs, expiresAtMs: nowMs + 120_000 };
      const outcome = directory.take(timed, { nowMs, isConnected: false });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    assert.equal(directory.workers().length, 2_000);
    for (const peer of [...honest, ...known]) assert.ok(directory.worker(peer), peer);
    assert.ok((outcomes.get('full') ?? 0) > 90_000, JSON.stringify([...outcomes]));
    assert.deepEqual(
      [...directory.connected()].map(({ peer }) => peer),
      honest,
    );
  });
});
