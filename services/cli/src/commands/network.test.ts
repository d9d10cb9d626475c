// What a gateway's operator sees of its network: how workers join, who is there, and what they have made.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openGatewayStore, readGatewayConfig } from '@strata/gateway';
import { createJoinToken } from '@strata/p2p';
import { fakeService } from '../test/mcp-client.ts';
import { assertEnds, jsonOf, runStrata, succeed, TestContext, temporaryDirectory } from '../test/run-strata.ts';
import { networkCommand } from './network.ts';

const LOOPBACK = { STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off', STRATA_INFERENCE_PORT: '0' };

describe('strata inference network', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory?.[Symbol.asyncDispose]());

  it('is what a gateway without a model serves: it prints what workers type, and shows who came', async () => {
    const gateway = await succeed('inference gateway', {
      env: { STRATA_DATA: directory.path, ...LOOPBACK },
      interruptAt: /"url":"(http:[^"]*)\/v1","msg":"ready"/,
      whileAt: async ({ matched }) => {
        const env = { STRATA_INFERENCE_URL: matched[1] ?? '' };
        const { stdout } = await succeed('inference network', { env });
        assert.match(stdout, /^gateway 12D3\w+: 0 workers of 0 peers\n\nno worker offers a model just now\n/);
        const none = { peers: 0, workers: 0, models: 0, slots: 0, running: 0, waiting: 0 };
        assert.deepEqual((await jsonOf('inference network --json', { env })).totals, none);
      },
    });
    const how = /^Workers join this gateway with [^\n]*:\n {2}npx strata inference worker .* --join strata1\w+\n$/;
    assert.match(gateway.stdout, how);
  });

  it('accounts for what workers have made, by worker, key, model and day', async () => {
    const env = { STRATA_DATA: path.join(directory.path, 'accounts') };
    const command = 'inference network accounts';
    const accounts = async (more = '') => (await succeed(command + more, { env })).stdout;
    const none = /^strata: no gateway has run here: there is no \S+inference\.db; STRATA_DATA names [^\n]*\n$/;
    assert.equal((await assertEnds(command, 1, none, { env })).stdout, '');
    assert.ok(!existsSync(env.STRATA_DATA), 'reading makes nothing');
    await (await openGatewayStore(readGatewayConfig(env)))[Symbol.asyncDispose]();
    assert.match(await accounts(), /^no worker made anything since \d{4}-\d\d-\d\d\n$/);
    {
      await using store = await openGatewayStore(readGatewayConfig(env));
      const { stored } = await store.keys.create({ tier: 'free', label: 'mine' });
      const model = { id: 'llama', sha256: 'a'.repeat(64) };
      const segment = (nonce: number, worker: string, ageMs = 0) => ({
        ...{ worker, gateway: 'us', caller: stored.id, modelSha256: model.sha256, endedAtMs: Date.now() - ageMs },
        ...{ promptTokens: 10, cachedTokens: 4, outputTokens: 7, nonce: new Uint8Array(16).fill(nonce) },
        ...{ receipt: new Uint8Array(3), workerSignature: new Uint8Array(64), gatewaySignature: new Uint8Array(64) },
      });
      await store.answers.keep([{ id: 'rwr_1', keyId: stored.id, body: JSON.stringify({ model }) }]);
      await store.segments.put(segment(1, 'worker-a'));
      await store.segments.put(segment(2, 'worker-b'));
      await store.segments.put(segment(3, 'worker-a', 40 * 86_400_000));
    }
    assert.match(await accounts(), /worker-a +1 +1 +10 +4 +7\s+worker-b +1 +1 +10 +4 +7/);
    assert.match(await accounts(' --by caller'), / 2 +2 +20 +8 +14 +mine/);
    assert.match(await accounts(' --by model'), /name\s+a{64} +2 +2 +20 +8 +14 +llama/);
    const tokens = { prompt_tokens: 30, cached_tokens: 12, output_tokens: 21 };
    const all = JSON.parse(await accounts(' --by model --days 60 --json'));
    assert.deepEqual(all, [{ model: 'a'.repeat(64), segments: 3, settled: 3, ...tokens }]);
  });

  it('goes on being watched when the gateway is offline for a while', async () => {
    const self = { peer: '12D3KooW' };
    const empty = { object: 'network', self, peers: [], models: [], totals: { peers: 0, workers: 0 } };
    let asked = 0;
    await using gateway = await fakeService((_request, response) => {
      asked += 1;
      if (asked === 2) response.destroy();
      else response.end(JSON.stringify(empty));
    });
    const context = new TestContext();
    context.stdout.on('text', () => context.stdout.text.split('\n').length === 4 && context.kill('SIGINT'));
    await networkCommand(context, { base: gateway.base, watch: true, json: true, watchMs: 1 });
    const words = /^strata: nothing answers at \S+; is the gateway running\?; it is asked again\n$/;
    assert.match(context.stderr.text, words);
    assert.equal(asked, 4);
  });

  it('prints the token of a private network as a secret, and never in the log', async () => {
    const token = createJoinToken({
      peer: '12D3KooWEW1NqyKPpRGMQ5RZQJA9uG3xpnW5cGWRZC5YUisGHZfz',
      addresses: ['/ip4/127.0.0.1/tcp/1'],
      networkKey: new Uint8Array(32).fill(7),
    });
    const env = { ...LOOPBACK, STRATA_JOIN: token, STRATA_DATA: path.join(directory.path, 'private') };
    const gateway = await runStrata('inference gateway', { env, interruptAt: /--join strata1/ });
    const secret = / --join strata1\w+\nThe token holds the key of this private network: keep it secret\.\n$/;
    assert.match(gateway.stdout, secret);
    const quiet = { STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' };
    const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0' };
    const ready = /chat completions: ready/;
    const both = await runStrata('start', { env: { ...env, ...quiet, ...ports }, interruptAt: ready });
    assert.match(both.stdout + both.stderr, ready);
    assert.doesNotMatch(gateway.stderr + both.stdout + both.stderr, /strata1/);
  });
});
