// What a gateway's operator sees of its network: how workers join, who is there, and what they have made.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openGatewayKeys } from '@strata/gateway';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

const LOOPBACK = { STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off', STRATA_INFERENCE_PORT: '0' };

describe('strata inference network', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory?.[Symbol.asyncDispose]());

  it('is what a gateway without a model serves: it prints what workers type, and shows who came', async () => {
    let shown = '';
    let told: unknown;
    const gateway = await runStrata(['inference', 'gateway'], {
      env: { STRATA_DATA: directory.path, ...LOOPBACK },
      interruptAt: /"url":"(http:[^"]*)\/v1","msg":"ready"/,
      whileAt: async ({ matched }) => {
        const env = { STRATA_INFERENCE_URL: matched[1] ?? '' };
        shown = (await runStrata(['inference', 'network'], { env })).stdout;
        told = JSON.parse((await runStrata(['inference', 'network', '--json'], { env })).stdout);
      },
    });
    assert.equal(gateway.code, 0, gateway.stderr);
    assert.match(
      gateway.stdout,
      /^Workers join this gateway with:\n {2}strata inference worker .* --join strata1\w+\n$/,
    );
    assert.match(shown, /^gateway 12D3\w+: 0 workers of 0 peers\n\nno worker offers a model just now\n/);
    assert.deepEqual((told as { readonly totals: object }).totals, {
      ...{ peers: 0, workers: 0, models: 0 },
      ...{ slots: 0, running: 0, waiting: 0 },
    });
  });

  it('accounts for what workers have made, by worker, key, model and day', async () => {
    const env = { STRATA_DATA: directory.path };
    const accounts = (...more: string[]) => runStrata(['inference', 'network', 'accounts', ...more], { env });
    assert.match((await accounts()).stdout, /^no worker made anything since \d{4}-\d\d-\d\d\n$/);
    {
      await using store = await openGatewayKeys({ dataDirectory: directory.path });
      const { stored } = await store.keys.create({ tier: 'free', label: 'mine' });
      const segment = {
        ...{ worker: 'worker-a', gateway: 'us', caller: stored.id, modelSha256: 'a'.repeat(64) },
        ...{ promptTokens: 10, cachedTokens: 4, outputTokens: 7, endedAtMs: Date.now() },
        ...{ receipt: new Uint8Array(3), workerSignature: new Uint8Array(64), gatewaySignature: new Uint8Array(64) },
      };
      await store.segments.put({ ...segment, nonce: new Uint8Array(16).fill(1) });
      await store.segments.put({ ...segment, nonce: new Uint8Array(16).fill(2), worker: 'worker-b' });
      await store.segments.put({
        ...segment,
        nonce: new Uint8Array(16).fill(3),
        endedAtMs: Date.now() - 40 * 86_400_000,
      });
    }
    assert.match((await accounts()).stdout, /worker-a +1 +1 +10 +4 +7\s+worker-b +1 +1 +10 +4 +7/);
    assert.match((await accounts('--by', 'caller')).stdout, / 2 +2 +20 +8 +14 +mine/);
    assert.deepEqual(JSON.parse((await accounts('--by', 'model', '--days', '60', '--json')).stdout), [
      {
        ...{ model: 'a'.repeat(64), segments: 3, settled: 3 },
        ...{ prompt_tokens: 30, cached_tokens: 12, output_tokens: 21 },
      },
    ]);
  });
});
