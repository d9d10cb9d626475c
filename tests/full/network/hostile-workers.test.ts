// Workers that lie, flood and never end, beside one that is honest: every stream is complete, and the gateway stays healthy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeFrame, encodeOffer, type Offer, offerSignedBytes, PROTOCOL } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';
import { createSimulatedEngine, simulatedVocabulary } from '@strata/testnet';
import {
  ScriptedWorker,
  type WorkerEngine,
  type WorkerScript,
} from '../../../services/gateway/src/test/network/scripted-worker.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../support/network/cluster.ts';
import { assertComplete, clientOf, type StreamAsk } from '../../support/network/streams.ts';

const ask: StreamAsk = { prompt: [300, 1_000], seed: 11, tokens: 120 };
/** More than the honest worker has, so that the gateway gives it work. */
const SLOTS = 64;
/** Of the gateway, over what it had before. */
const MAX_GROWTH_BYTES = 256 * 2 ** 20;

let cluster: Cluster;
let gateway: GatewayProcess;

/** A host that offers the model as the honest one does, with more slots and more speed than any other. */
async function hostile(script: WorkerScript): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const node = stack.use(await host());
  const engine = createSimulatedEngine({ tokensPerSecond: 400, slots: SLOTS });
  const worker = await ScriptedWorker.connect(node, gateway.ready.peer, { engine: engine as WorkerEngine, script });
  stack.defer(() => worker.kill());
  worker.send(await offerOf(node, engine.info));
  return stack.move();
}

async function host(): Promise<PeerNode> {
  const keyFile = path.join(cluster.directory, `hostile-${Math.random()}.key`);
  const node = await startPeerNode({ keyFile, listen: [], isMdnsOn: false });
  await node.peers.join(gateway.ready.joinToken, { signal: AbortSignal.timeout(30_000) });
  return node;
}

async function offerOf(node: PeerNode, info: ReturnType<typeof createSimulatedEngine>['info']) {
  const { sha256: vocabularySha256, templateSha256 } = simulatedVocabulary();
  const { hasChatTemplate: _, ...facts } = info;
  const model = { ...facts, vocabularySha256, templateSha256, slots: SLOTS };
  const now = Date.now();
  const offer: Offer = {
    ...{ peer: node.id, sequence: now, issuedAtMs: now, expiresAtMs: now + 120_000, software: 'hostile' },
    models: [{ ...model, prefillTokensPerSecond: 1e6, decodeTokensPerSecond: 1e6 }],
    ...{ running: 0, waiting: 0 },
  };
  const bytes = encodeOffer(offer);
  return { kind: 'offer', offer: bytes, signature: await node.sign(offerSignedBytes(bytes)) } as const;
}

/** Six concurrent streams, all complete. */
const assertServes = () => {
  const asks = Array.from({ length: 6 }, (_, i): StreamAsk => ({ ...ask, seed: ask.seed + i }));
  return assertComplete(clientOf(gateway), asks);
};

const gatewayBytes = async (): Promise<number> => {
  const usage = once(gateway.child, 'message') as Promise<[{ readonly rss: number }]>;
  gateway.child.send('usage');
  return (await usage)[0].rss;
};

describe('a worker', { timeout: 120_000 }, () => {
  before(async () => {
    cluster = await Cluster.open();
    gateway = await cluster.startGateway();
    await cluster.startWorker({ simulated: { tokensPerSecond: 400, slots: 2 } });
    await workersServing(gateway, 1);
  });
  after(() => cluster?.[Symbol.asyncDispose]());
  it('that answers in garbage', async () => {
    const garbage = () => crypto.getRandomValues(new Uint8Array(200));
    let replaced = 0;
    await using _hostile = await hostile({
      send: (frame) => {
        if (frame.kind === 'tokens') replaced += 1;
        return frame.kind === 'tokens' ? [garbage(), garbage()] : [frame];
      },
    });
    await workersServing(gateway, 2);
    await assertServes();
    assert.ok(replaced > 0, 'it was asked');
  });
  it('that sends a gigabyte, in frames that are right in themselves', async () => {
    const before = await gatewayBytes();
    await using node = await host();
    const channel = await node.channels.open(gateway.ready.peer, PROTOCOL, { signal: AbortSignal.timeout(30_000) });
    const greeting = { kind: 'hello', version: 1, software: 'flood', role: 'worker' } as const;
    await channel.send(encodeFrame(greeting));
    const jobs = Array.from({ length: 10_000 }, (_, i) => ({ id: i + 1, phase: 'writing' as const }));
    const heartbeat = encodeFrame({ kind: 'pulse', running: 10_000, waiting: 0, jobs });
    const [sent] = await Promise.all([flood(channel, heartbeat, 2 ** 30), assertServes()]);
    assert.ok(sent < 2 ** 28, `its connection is closed before the end: ${sent} bytes`);
    const growth = (await gatewayBytes()) - before;
    assert.ok(growth < MAX_GROWTH_BYTES, `${Math.round(growth / 2 ** 20)} MiB more after ${sent} bytes`);
  });
});

/** Sends the same again and again until the other side hangs up; gives the bytes sent. */
async function flood(channel: Channel, message: Uint8Array, max: number): Promise<number> {
  let sent = 0;
  try {
    while (sent < max) {
      await channel.send(message);
      sent += message.byteLength;
    }
  } catch {
    // Hung up on, as it should be.
  }
  return sent;
}
