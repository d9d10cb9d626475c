// Workers that lie, flood and never end, beside one that is honest: every stream is whole, and the gateway stays what it was.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeFrame, encodeOffer, type Offer, offerSignedBytes, PROTOCOL } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';
import { createSimulatedEngine, simulatedVocabulary } from '@strata/testnet';
import protobuf from 'protobufjs';
import { FRAME_PROTO } from '../../../packages/inference/src/network/frame-proto.ts';
import {
  ScriptedWorker,
  type WorkerEngine,
  type WorkerScript,
} from '../../../services/gateway/src/test/network/scripted-worker.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../support/network/cluster.ts';
import { clientOf, faultsOf, type StreamAsk, streamOf } from '../../support/network/streams.ts';

const ask: StreamAsk = { prompt: [300, 1_000], seed: 11, tokens: 120 };
/** Of the gateway, over what it had before. */
const MOST_GROWTH_BYTES = 256 * 2 ** 20;

let cluster: Cluster;
let gateway: GatewayProcess;
let count = 0;

before(async () => {
  cluster = await Cluster.open();
  gateway = await cluster.startGateway();
  await cluster.startWorker({ simulated: { tokensPerSecond: 400, slots: 2 } });
  await workersServing(gateway, 1);
});
after(() => cluster?.[Symbol.asyncDispose]());

interface Hostile extends AsyncDisposable {
  readonly node: PeerNode;
  readonly worker: ScriptedWorker;
}

/** A host that offers the model as the honest one does, with more slots and more speed than anybody. */
async function hostile(script: WorkerScript, { slots = 64 }: { readonly slots?: number } = {}): Promise<Hostile> {
  await using stack = new AsyncDisposableStack();
  const node = stack.use(await host());
  const engine = createSimulatedEngine({ tokensPerSecond: 400, slots });
  const worker = await ScriptedWorker.connect(node, gateway.ready.peer, { engine: engine as WorkerEngine, script });
  stack.defer(() => worker.kill());
  worker.say(await offerOf(node, engine.info, slots));
  const owned = stack.move();
  return { node, worker, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function host(): Promise<PeerNode> {
  count += 1;
  const keyFile = path.join(cluster.directory, `hostile-${count}.key`);
  const node = await startPeerNode({ keyFile, listen: [], isMdnsOn: false });
  await node.peers.join(gateway.ready.joinToken, { signal: AbortSignal.timeout(10_000) });
  return node;
}

async function offerOf(node: PeerNode, info: ReturnType<typeof createSimulatedEngine>['info'], slots: number) {
  const { sha256: vocabularySha256, templateSha256 } = simulatedVocabulary();
  const { hasChatTemplate: _, ...facts } = info;
  const now = Date.now();
  const offer: Offer = {
    ...{ peer: node.id, sequence: now, issuedAtMs: now, expiresAtMs: now + 120_000, software: 'hostile' },
    models: [
      {
        ...{ ...facts, vocabularySha256, templateSha256, slots: 1 },
        ...{ prefillTokensPerSecond: 1e6, decodeTokensPerSecond: 1e6 },
      },
    ],
    ...{ running: 0, waiting: 0 },
  };
  const bytes = withSlots(encodeOffer(offer), slots);
  return { kind: 'offer', offer: bytes, signature: await node.sign(offerSignedBytes(bytes)) } as const;
}

/** Written past the bounds of our own writer. */
function withSlots(offer: Uint8Array, slots: number): Uint8Array {
  const type = protobuf.parse(FRAME_PROTO).root.lookupType('Offer');
  const message = type.decode(offer) as protobuf.Message & { readonly models: { slots: number }[] };
  for (const model of message.models) model.slots = slots;
  return type.encode(message).finish();
}

/** Streams side by side, all of them whole. */
async function assertWhole(streams = 6): Promise<void> {
  const client = clientOf(gateway);
  const asks = Array.from({ length: streams }, (_, i): StreamAsk => ({ ...ask, seed: ask.seed + i }));
  const outcomes = await Promise.all(asks.map((each) => streamOf(client, each)));
  for (const [i, outcome] of outcomes.entries()) assert.deepEqual(faultsOf(outcome, asks[i] ?? ask), [], `stream ${i}`);
}

const gatewayBytes = async (): Promise<number> => {
  const usage = new Promise<{ readonly rss: number }>((resolve) => {
    gateway.child.once('message', (message) => resolve(message as { readonly rss: number }));
  });
  gateway.child.send('usage');
  return (await usage).rss;
};

describe('a worker', { timeout: 120_000 }, () => {
  it('that answers in garbage', async () => {
    const garbage = () => crypto.getRandomValues(new Uint8Array(200));
    let said = 0;
    await using _hostile = await hostile({
      say: (frame) => {
        if (frame.kind === 'tokens') said += 1;
        return frame.kind === 'tokens' ? [garbage(), garbage()] : [frame];
      },
    });
    await workersServing(gateway, 2);
    await assertWhole();
    assert.ok(said > 0, 'it was asked');
  });

  it('that never ends', async () => {
    let said = 0;
    await using bad = await hostile({
      hear(frame, worker) {
        if (frame.kind !== 'request') return false;
        said += 1;
        worker.say({ kind: 'begin', id: frame.id, cachedTokens: 0 });
        const token = { token: 300, text: Buffer.from(' w300'), logprob: 0, top: [] };
        for (let position = 0; position < 2_000; position += 1)
          worker.say({ kind: 'tokens', id: frame.id, position, tokens: [token] });
        return true;
      },
    });
    await workersServing(gateway, 2);
    // What it says is not what the model draws, so that only whole streams of others can be right; but each one ends.
    const client = clientOf(gateway);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, i) => streamOf(client, { ...ask, seed: 100 + i })),
    );
    for (const { finish, completionTokens } of outcomes)
      assert.deepEqual([finish, completionTokens], ['length', ask.tokens]);
    assert.ok(said > 0, 'it was asked');
    assert.ok(bad.worker.heard.length > 0);
  });

  it('that sends a gigabyte, in frames that are right in themselves', async () => {
    const before = await gatewayBytes();
    await using node = await host();
    const channel = await node.channels.open(gateway.ready.peer, PROTOCOL, { signal: AbortSignal.timeout(5_000) });
    const greeting = { kind: 'hello', version: 1, software: 'flood', role: 'worker' } as const;
    await channel.send(encodeFrame(greeting));
    const jobs = Array.from({ length: 10_000 }, (_, i) => ({ id: i + 1, phase: 'writing' as const }));
    const pulse = encodeFrame({ kind: 'pulse', running: 10_000, waiting: 0, jobs });
    const [sent] = await Promise.all([flood(channel, pulse, 2 ** 30), assertWhole()]);
    assert.ok(sent < 2 ** 28, `it is hung up on, not heard out: ${sent} bytes`);
    const growth = (await gatewayBytes()) - before;
    assert.ok(growth < MOST_GROWTH_BYTES, `${Math.round(growth / 2 ** 20)} MiB more after ${sent} bytes`);
  });

  it('that claims a million slots', async () => {
    await using _hostile = await hostile({ hear: (frame) => frame.kind === 'request' }, { slots: 1_000_000 });
    await assertWhole(12);
    await workersServing(gateway, 1);
  });

  it('that claims all the slots that it may, and serves none of them', async () => {
    await using _hostile = await hostile({ hear: (frame) => frame.kind === 'request' }, { slots: 10_000 });
    await workersServing(gateway, 2);
    await assertWhole(12);
  });

  it('of another version is told so, and gets no work', async () => {
    await using bad = await hostile({ hello: { kind: 'hello', version: 2, software: 'later', role: 'worker' } });
    await assertWhole(2);
    const failed = bad.worker.heard.find(({ kind }) => kind === 'failed');
    assert.equal(failed?.kind === 'failed' && failed.code, 'protocol');
  });
});

/** Sends the same again and again until the other side hangs up; gives the bytes sent. */
async function flood(channel: Channel, message: Uint8Array, most: number): Promise<number> {
  let sent = 0;
  try {
    while (sent < most) {
      await channel.send(message);
      sent += message.byteLength;
    }
  } catch {
    // Hung up on, as it should be.
  }
  return sent;
}
