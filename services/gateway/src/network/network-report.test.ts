// What GET /network tells, of strangers too: bounded, by its own schema, without addresses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NEWCOMER, type Offer } from '@strata/inference';
import { offeredModel } from '../test/network/offered-model.ts';
import type { AuditRecord } from './audit-log.ts';
import { type KnownPeer, NetworkReport, networkReport } from './network-report.ts';

const model = offeredModel({ slots: 2 });
const offerOf = (peer: string, models = [model]): Offer => ({
  ...{ peer, sequence: 1, issuedAtMs: 0, expiresAtMs: 1, software: 's', models, running: 3, waiting: 1 },
});
const unknown = { connectedSince: undefined, roundTripMs: undefined, load: undefined, offer: undefined };
const peerOf = (peer: string, more: Partial<KnownPeer> = {}): KnownPeer => ({
  ...{ peer, ...unknown, standing: NEWCOMER, trust: 0.5 },
  ...more,
});
const audit: AuditRecord = {
  ...{ atMs: 7, kind: 'answer', peer: 'worker', modelSha256: model.sha256, tokens: 9 },
  ...{ verifiers: ['other'], outcome: 'clean', deviation: 0 },
};
const self = { peer: 'me', software: 's' };

describe('the report of the network', () => {
  it('has connected workers first, then other peers, then those known by gossip', () => {
    const [connectedSince, load] = [new Date(0), { running: 1, waiting: 0 }];
    const report = networkReport({
      self,
      peers: [
        peerOf('gossiped', { offer: offerOf('gossiped') }),
        peerOf('other', { connectedSince }),
        peerOf('worker', { connectedSince, offer: offerOf('worker'), load, roundTripMs: 1.23456 }),
      ],
      models: [{ id: 'm', name: 'm', sha256: 'a', workers: 1, slots: 2, running: 1, waiting: 0 }],
      audits: [audit],
    });
    const roles = report.peers.map(({ peer, role }) => `${peer} ${role}`);
    assert.deepEqual(roles, ['worker worker', 'other other', 'gossiped worker']);
    assert.deepEqual(report.totals, { peers: 3, workers: 1, models: 1, slots: 2, running: 1, waiting: 0 });
    const [worker, other, gossiped] = report.peers;
    assert.deepEqual([worker?.running, worker?.round_trip_ms, worker?.standing?.state], [1, 1.23, 'new']);
    // What a worker that is not connected says of its load is all that is known.
    assert.deepEqual([gossiped?.running, other?.standing], [3, null]);
    const told = { at: '1970-01-01T00:00:00.007Z', kind: 'answer', worker: 'worker', outcome: 'clean' };
    assert.deepEqual(report.audits, [told]);
    assert.deepEqual(NetworkReport.parse(report), report);
  });

  it('is bounded, however many there are and however much they offer', () => {
    const models = Array.from({ length: 64 }, () => ({ ...model, name: '\u202e'.repeat(200) }));
    const peers = Array.from({ length: 3_000 }, (_, i) => peerOf(`p${i}`, { offer: offerOf(`p${i}`, models) }));
    const report = networkReport({ self, peers, models: [], audits: [] });
    assert.equal(report.totals.peers, 3_000);
    assert.equal(report.peers.length, 500);
    assert.ok(JSON.stringify(report).length < 4_000_000);
  });
});
