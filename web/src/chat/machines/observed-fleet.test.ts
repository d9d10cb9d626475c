import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Peer } from '../inference.ts';
import { siteOf } from '../site.ts';
import { type Fleet, nextFleet } from './observed-fleet.ts';

const worker = (peer: string, part: Partial<Peer> = {}): Peer => ({
  ...{ peer, role: 'worker', connected_since: '2026-01-01T00:00:00Z', round_trip_ms: 1, software: null },
  ...{ models: [], running: 0, waiting: 0, memory: null, standing: null },
  ...part,
});

/** After these reports, a second apart. */
const after = (...reports: readonly (readonly Peer[])[]): Fleet | undefined =>
  reports.reduce<Fleet | undefined>((fleet, peers, i) => nextFleet(fleet, { peers: [...peers] }, i * 1_000), undefined);
const eventsOf = (fleet: Fleet | undefined) => fleet?.events.map(({ kind, peer, at }) => `${kind} ${peer} ${at}`);

describe('the fleet', () => {
  it('starts with the connected workers, without events', () => {
    const fleet = after([worker('a'), worker('b', { connected_since: null }), worker('c', { role: 'other' })]);
    assert.equal(fleet?.peers.map(({ peer }) => peer).join(), 'a');
    assert.deepEqual(eventsOf(fleet), []);
  });

  it('records joins, departures and returns, newest first', () => {
    const left = after([worker('a'), worker('b')], [worker('b')]);
    assert.deepEqual(eventsOf(left), ['left a 1000']);
    assert.equal(left?.offline.map(({ peer }) => peer.peer).join(), 'a');
    const back = after([worker('a'), worker('b')], [worker('b')], [worker('a'), worker('b')]);
    assert.deepEqual(eventsOf(back), ['joined a 2000', 'left a 1000']);
    assert.deepEqual(back?.offline, []);
  });

  it('drops workers that left long ago, and keeps a bounded list of events', () => {
    assert.equal(nextFleet(after([worker('a')], []), { peers: [] }, 20 * 60_000).offline.length, 0);
    const flapping = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? [worker('a')] : []));
    assert.equal(after(...flapping)?.events.length, 30);
  });
});

it('the site description of a gateway is used as far as it is valid', () => {
  const explorerUrl = 'https://stack.example';
  assert.deepEqual(siteOf({ explorer_url: explorerUrl, free_keys_per_day: 3 }), { explorerUrl, freeKeysPerDay: 3 });
  const nothing = { explorerUrl: undefined, freeKeysPerDay: 0 };
  for (const body of [null, 7, [], {}, { explorer_url: 'javascript:alert(1)', free_keys_per_day: 'many' }])
    assert.deepEqual(siteOf(body), nothing);
});
