// Offers by gossip: only offers signed by their author are accepted, and invalid ones are rejected.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Directory, encodeFrame, encodeOffer, type Offer, offerSignedBytes } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import { freshBed } from '../test/network/shared-bed.ts';
import { Offers } from './offers.ts';

const NOW_MS = 1_000_000;

describe('gossiped offers', () => {
  let author: PeerNode;
  before(async () => {
    author = (await freshBed()).gateway;
  });

  function scene() {
    const known = new Directory();
    const taken = Promise.withResolvers<Offer>();
    const clock = { nowMs: () => NOW_MS };
    const offers = new Offers({ ...clock, directory: known, onTaken: taken.resolve });
    return { known, offers, taken: taken.promise };
  }
  const offerOf = (sequence: number, peer = author.id): Offer => ({
    ...{ peer, sequence, software: 's', models: [], running: 0, waiting: 0 },
    ...{ issuedAtMs: NOW_MS, expiresAtMs: NOW_MS + 60_000 },
  });
  const signed = async (offer: Offer) => {
    const bytes = encodeOffer(offer);
    const signature = await author.sign(offerSignedBytes(bytes));
    return encodeFrame({ kind: 'offer', offer: bytes, signature });
  };

  it('in the name of another peer, or that are malformed, are rejected immediately', async () => {
    const { known, offers } = scene();
    const right = await signed(offerOf(1));
    assert.equal(offers.receive(right, '12D3KooWAnotherPeer'), 'reject');
    const ofAnother = await signed(offerOf(1, 'another-peer'));
    const noOffers = [encodeFrame({ kind: 'cancel', id: 1 }), new Uint8Array(), new Uint8Array(1_000).fill(255)];
    for (const bytes of [ofAnother, ...noOffers, right.subarray(0, 20)])
      assert.equal(offers.receive(bytes, author.id), 'reject');
    assert.deepEqual(known.workers(), []);
  });
  it('with an invalid signature change nothing, even in large numbers; valid ones are accepted', async () => {
    const { known, offers, taken } = scene();
    const wrong = encodeFrame({ kind: 'offer', offer: encodeOffer(offerOf(5)), signature: new Uint8Array(64) });
    const verdicts = Array.from({ length: 1_000 }, () => offers.receive(wrong, author.id));
    assert.ok(verdicts.includes('ignore'));
    // A valid one is accepted once the checks of the flood are done.
    const right = await signed(offerOf(1));
    let verdict = offers.receive(right, author.id);
    for (; verdict === 'ignore'; verdict = offers.receive(right, author.id)) await new Promise(setImmediate);
    assert.deepEqual([verdict, (await taken).peer, known.worker(author.id)?.offer.sequence], ['accept', author.id, 1]);
  });
});
