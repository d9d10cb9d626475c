// Patched workers on a real network: each cheat about the model is refused under a pin, or shown as unproved.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { openFileTree } from '@strata/engine';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { createSimulatedEngine, simulatedAnswer, simulatedText } from '@strata/testnet';
import { readWorkerConfig, startWorker } from '@strata/worker';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { untilAnswer } from '../../support/until.ts';

const HOST = { STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off', STRATA_LOG_LEVEL: 'silent' };
const logger = createLogger({ level: 'silent' });
const bytes = Buffer.from('the vocabulary of the simulated model');
const vocabulary = { bytes, sha256: hash('sha256', bytes), templateSha256: '7'.repeat(64) };
const [right, other] = [createSimulatedEngine(), createSimulatedEngine({ modelSeed: 2 })];
const SHA256 = right.info.sha256;
const PROMPT = [300, 500, 700];
const ask = { model: 'm', prompt: PROMPT, seed: 3, max_tokens: 12, temperature: 1 };
const TRUTH = simulatedAnswer(PROMPT, { seed: 3, count: 12 }).map(simulatedText).join('');

/** What a worker offers, reads and runs. */
type Patch = { runs?: typeof right; has?: 'right' | 'other'; text?: string };

it('cheats about the model are refused under a pin, or shown as unproved', { timeout: 300_000 }, async () => {
  await using directory = await temporaryDirectory();
  const treeOf = async (name: string) => {
    const file = path.join(directory.path, name);
    await writeFile(file, Buffer.alloc(200_000, name));
    return openFileTree(file);
  };
  const trees = { right: await treeOf('right'), other: await treeOf('other') };
  let started = 0;
  const settings = () => ({ ...HOST, STRATA_DATA: path.join(directory.path, `${started++}`) });
  async function network(pins: string | undefined, run: (net: Awaited<ReturnType<typeof open>>) => Promise<void>) {
    await using net = await open(pins);
    await run(net);
  }
  async function open(pins: string | undefined) {
    await using stack = new AsyncDisposableStack();
    const on = { STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on', STRATA_PIN_MODELS: pins };
    const config = readGatewayConfig({ ...settings(), ...on });
    const { gateway, port } = stack.use(
      await startGateway(config, logger, {
        openVocabulary: async () => ({ ...right, facts: right.info, [Symbol.asyncDispose]: async () => {} }),
      }),
    );
    const workers = stack.use(new AsyncDisposableStack());
    const { key } = await gateway.keys.create({ tier: 'unlimited' });
    const call = async (target: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
      const response = await fetch(`http://127.0.0.1:${port}${target}`, init);
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
    };
    const join = async ({ runs = right, has = 'right', text }: Patch = {}) => {
      const generate: typeof right.generate = async function* (job, signal) {
        for await (const event of runs.generate(job, signal))
          yield event.kind === 'token' && text !== undefined ? { ...event, bytes: Buffer.from(text) } : event;
      };
      const engine = { ...runs, generate, info: { ...right.info, sizeBytes: 200_000 }, isReady: true };
      const model = { name: 'm', engine, vocabulary, tree: trees[has], speed: { prefill: 10_000, decode: 200 } };
      const joining = { ...settings(), STRATA_JOIN: gateway.network?.joinToken() ?? '' };
      workers.use(await startWorker(readWorkerConfig(joining), { logger }, { model }));
    };
    /** The level of the model with its reason, once it is so; and an answer. */
    const answers = async (expected: RegExp) => {
      await untilAnswer(`${expected}`, async () => {
        const [model] = (await call('/v1/models')).body.data;
        return model && expected.test(`${model.verified.level}: ${model.verified.reason}`);
      });
      return call('/v1/completions', ask);
    };
    return Object.assign(stack.move(), { call, join, answers });
  }

  // Another hash claimed, and text that is not that of the tokens: without a pin it is served, and said to be unproved.
  await network(undefined, async ({ join, answers, call }) => {
    await join({ runs: other, has: 'other', text: 'EVIL' });
    const { headers, body } = await answers(/^claimed: no audit reaches/);
    assert.match(headers.get('x-model-verified') ?? '', /^claimed;reason="no audit reaches/);
    assert.match(body.choices[0].text, /^( w\d+){12}$/, 'the text of the tokens');
    const receipt = (await call(`/v1/receipts/${headers.get('x-receipt-id')}`)).body;
    assert.equal(receipt.model.verified.level, 'claimed');
  });
  // Another model under a pin.
  await network(`m=${SHA256}:${trees.right.digest}`, async ({ join, call }) => {
    await join({ runs: other, has: 'other' });
    const standing = await untilAnswer('the worker is caught', async () => {
      const peer = (await call('/network')).body.peers.find((each: { standing: unknown }) => each.standing !== null);
      return peer?.standing.state === 'quarantined' && peer.standing;
    });
    assert.equal(standing.trust, 0);
    assert.notEqual((await call('/v1/completions', ask)).status, 200);
  });
  // The right file with another model behind it: refused alone and beside an honest worker, left out beside two.
  await network(`m=${SHA256}`, async ({ join, answers }) => {
    await join({ runs: other, text: 'EVIL' });
    const { status, headers, body } = await answers(/^claimed: nothing to compare/);
    assert.deepEqual([status, headers.has('retry-after')], [503, true]);
    assert.match(body.error.message, /pinned, and no worker has proved it: nothing to compare/);
    await join();
    assert.equal((await answers(/^claimed: .*does not answer by it/)).status, 503);
    await join({ text: 'EVIL' });
    const proved = await answers(/^pinned: .*workers agree on its tree/);
    assert.deepEqual([proved.status, proved.body.choices?.[0].text], [200, TRUTH]);
    assert.match(proved.headers.get('x-model-verified') ?? '', /^pinned;/);
  });
});
