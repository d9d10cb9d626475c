import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Peer } from '../inference.ts';
import { siteOf } from '../site.ts';
import { type Fleet, seenFleet } from './observed-fleet.ts';

const worker = (peer: string, part: Partial<Peer> = {}): Peer => ({
  ...{ peer, role: 'worker', connected_since: '2026-01-01T00:00:00Z', round_trip_ms: 1, software: null },
  ...{ models: [], running: 0, waiting: 0, standing: null },
  ...part,
});

/** After these reports, a second apart. */
const after = (...reports: readonly (readonly Peer[])[]): Fleet | undefined =>
  reports.reduce<Fleet | undefined>((fleet, peers, i) => seenFleet(fleet, { peers: [...peers] }, i * 1_000), undefined);
const eventsOf = (fleet: Fleet | undefined) => fleet?.events.map(({ kind, peer, at }) => `${kind} ${peer} ${at}`);

describe('the fleet', () => {
  it('begins with whoever is there, as nobody new; only workers that are connected count', () => {
    const fleet = after([worker('a'), worker('b', { connected_since: null }), worker('c', { role: 'other' })]);
    assert.equal(fleet?.peers.map(({ peer }) => peer).join(), 'a');
    assert.deepEqual(eventsOf(fleet), []);
  });

  it('tells who came and who went, newest first, and that one is back', () => {
    const gone = after([worker('a'), worker('b')], [worker('b')]);
    assert.deepEqual(eventsOf(gone), ['gone a 1000']);
    assert.equal(gone?.gone.map(({ peer }) => peer.peer).join(), 'a');
    const back = after([worker('a'), worker('b')], [worker('b')], [worker('a'), worker('b')]);
    assert.deepEqual(eventsOf(back), ['joined a 2000', 'gone a 1000']);
    assert.deepEqual(back?.gone, []);
  });

  it('forgets those who went long ago, and keeps a bounded list', () => {
    const gone = after([worker('a')], []);
    assert.equal(seenFleet(gone, { peers: [] }, 20 * 60_000).gone.length, 0);
    const flapping = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? [worker('a')] : []));
    assert.equal(after(...flapping)?.events.length, 30);
  });
});

describe('what a gateway tells of its site', () => {
  it('is believed as far as it can be used', () => {
    const explorerUrl = 'https://stack.example';
    assert.deepEqual(siteOf({ explorer_url: explorerUrl, free_keys_per_day: 3 }), { explorerUrl, freeKeysPerDay: 3 });
    const nothing = { explorerUrl: null, freeKeysPerDay: 0 };
    for (const body of [null, 7, [], {}, { explorer_url: 'javascript:alert(1)', free_keys_per_day: 'many' }])
      assert.deepEqual(siteOf(body), nothing);
  });
});
