// The report of GET /network: bounded, matching its schema, without addresses, without a key.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NEW_WORKER, type Offer } from '@strata/inference';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { type Harness, MODEL, startHarness } from '../test/harness.ts';
import { offeredModel } from '../test/network/answers.ts';
import { get, startOnSharedEngine } from '../test/shared.ts';
import type { AuditRecord } from './audit/auditor.ts';
import { KnownGateways } from './known-gateways.ts';
import { type KnownPeer, NetworkReport, networkReport } from './network-report.ts';

const model = offeredModel({ slots: 2 });
const offerOf = (peer: string, models = [model]): Offer => ({
  ...{ peer, sequence: 1, issuedAtMs: 0, expiresAtMs: 1, software: 's', models, running: 3, waiting: 1 },
});
const unknown = { connectedSince: undefined, roundTripMs: undefined, load: undefined, offer: undefined };
const verified = { level: 'claimed', reason: 'a test' } as const;
const peerOf = (peer: string, more: Partial<KnownPeer> = {}): KnownPeer => ({
  ...{ peer, ...unknown, reputation: NEW_WORKER, trust: 0.5, verified: () => verified },
  ...more,
});
const audit: AuditRecord = {
  ...{ atMs: 7, kind: 'answer', peer: 'worker', modelSha256: model.sha256, tokens: 9 },
  ...{ verifiers: ['other'], outcome: 'clean', deviation: 0 },
};
const self = { peer: 'me', software: 's' };
const gateways: readonly never[] = [];

it('the report of the network lists connected workers first, then other peers, then those known by gossip', () => {
  const [connectedSince, load] = [new Date(0), { running: 1, waiting: 0 }];
  const peers = [
    peerOf('gossiped', { offer: offerOf('gossiped') }),
    peerOf('other', { connectedSince }),
    peerOf('worker', { connectedSince, offer: offerOf('worker'), load, roundTripMs: 1.23456 }),
  ];
  const models = [{ id: 'm', name: 'm', sha256: 'a', workers: 1, slots: 2, running: 1, waiting: 0, verified }];
  const report = networkReport({ self, gateways, peers, models, audits: [audit] });
  const roles = report.peers.map(({ peer, role }) => `${peer} ${role}`);
  assert.deepEqual(roles, ['worker worker', 'other other', 'gossiped worker']);
  assert.deepEqual(report.totals, { peers: 3, workers: 1, models: 1, slots: 2, running: 1, waiting: 0 });
  const [worker, other, gossiped] = report.peers;
  assert.deepEqual([worker?.running, worker?.round_trip_ms, worker?.standing?.state], [1, 1.23, 'new']);
  // The load of a worker that is not connected is known only from its offer.
  assert.deepEqual([gossiped?.running, other?.standing], [3, null]);
  const reported = { at: '1970-01-01T00:00:00.007Z', kind: 'answer', worker: 'worker', outcome: 'clean' };
  assert.deepEqual(report.audits, [reported]);
  assert.deepEqual(NetworkReport.parse(report), report);
});
it('the report of the network is bounded, however many peers there are and however much they offer', () => {
  const models = Array.from({ length: 64 }, () => ({ ...model, name: '\u202e'.repeat(200) }));
  const peers = Array.from({ length: 3_000 }, (_, i) => peerOf(`p${i}`, { offer: offerOf(`p${i}`, models) }));
  const report = networkReport({ self, gateways, peers, models: [], audits: [] });
  assert.deepEqual([report.totals.peers, report.peers.length], [3_000, 500]);
  assert.ok(JSON.stringify(report).length < 4_000_000);
});
it('the report of the network names the gateways, memory, and who holds or loads a model', () => {
  const known = new KnownGateways();
  const address = (peer: string) => [`/ip4/192.0.2.1/tcp/1/p2p/${peer}`];
  for (const heartbeat of [1, 2, 3, 4])
    known.note([
      { id: 1, heartbeat, addresses: address('alive') },
      { id: 2, heartbeat: 1, addresses: address('killed') },
      { id: 3, heartbeat, addresses: [] },
    ]);
  const memory = { memoryBudgetBytes: 8, memoryHeldBytes: 5 };
  const worker = (peer: string, more: Partial<typeof model>) =>
    peerOf(peer, { connectedSince: new Date(0), offer: { ...offerOf(peer, [{ ...model, ...more }]), ...memory } });
  const peers = [
    worker('holds', { memoryBytes: 5 }),
    worker('loads', { loadMs: 9, isLoading: true }),
    worker('could', { loadMs: 9 }),
    peerOf('alive', { connectedSince: new Date(0) }),
  ];
  const { sha256 } = model;
  const models = [{ id: 'm', name: 'm', sha256, workers: 3, slots: 6, running: 0, waiting: 0, verified }];
  const report = networkReport({ self, gateways: known.list(), peers, models, audits: [] });
  assert.deepEqual(NetworkReport.parse(report), report);
  const listed = report.gateways.map((each) => [each.peer, each.self, each.connected, each.state].join(' '));
  assert.deepEqual(listed, ['me true true running', 'alive false true running', 'killed false false silent']);
  assert.deepEqual([report.models[0]?.loaded, report.models[0]?.loading], [1, 1]);
  const held = report.peers.flatMap((each) => each.models.map((one) => [each.peer, one.loading, one.memory_bytes]));
  assert.deepEqual(held, [
    ['holds', false, 5],
    ['loads', true, null],
    ['could', false, null],
  ]);
  assert.deepEqual(report.peers[0]?.memory, { budget_bytes: 8, held_bytes: 5 });
});

const ON = { STRATA_NETWORK: 'on', STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off' };

describe('GET /network', () => {
  let service: Harness;
  before(async () => {
    service = await startOnSharedEngine(ON);
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('matches its description, in addition to the gateway’s own models', async () => {
    const { status, body, headers } = await service.get('/network', { authorization: '' });
    assert.deepEqual([status, headers.get('cache-control')], [200, 'public, max-age=1']);
    const ajv = new Ajv2020({ strict: false }).addSchema((await service.get('/openapi.json')).body, 'api');
    assert.ok(ajv.validate('api#/components/schemas/Network', body), ajv.errorsText());
    assert.deepEqual([body.self.peer, body.peers, body.models], [service.running.gateway.network?.node.id, [], []]);
    assert.equal((await service.get('/v1/models')).body.data[0].id, MODEL);
  });
  it('takes no parameters and no further path, and never contains an address', async () => {
    const first = await service.get('/network');
    for (const name of ['limit', 'peer', 'x'.repeat(64), '__proto__', 'constructor']) {
      const { status, body } = await service.get(`/network?${name}=../../etc/passwd`);
      assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_value', name]);
    }
    assert.equal((await service.get('/v1/models?api-version=1')).status, 200);
    assert.doesNotMatch(first.text, /127\.0\.0\.1|\/ip4|\/tcp/);
    for (const target of ['/network/', '/network/peers', '/network/..%2f'])
      assert.equal((await service.get(target)).status, 404, target);
    const { status, headers } = await service.post('/network', {});
    assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
  });

  it('is cached for a second', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, async () => (await service.get('/network')).text));
    assert.ok(new Set(texts).size <= 2);
  });
});

it('a gateway without a network reports that', async () => {
  const { status, body } = await get('/network');
  assert.deepEqual([status, body.error.code], [404, 'not_found']);
});

it('invalid network settings are reported before anything listens', async () => {
  const wrong = casesOf<[Record<string, string>, string][]>('gateway', 'wrong networks');
  for (const [settings, words] of wrong)
    await assert.rejects(startHarness({ STRATA_MODEL: '', ...ON, ...settings }), new RegExp(words));
});
