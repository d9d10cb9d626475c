// The network of a gateway as an operator sees it, and a worker with its earnings, on a scripted gateway.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { openGatewayStore, readGatewayConfig } from '@strata/gateway';
import { decodeOffer, settleSignedBytes } from '@strata/inference';
import { createJoinToken } from '@strata/p2p';
import { tinyChatModel } from '@strata/testnet';
import { casesOf, fakeService, temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import { requestOf, startScriptedGateway } from '../../../../../tests/support/scripted-gateway.ts';
import { assertEnds, jsonOf, runStrata, succeed, TestContext } from '../../test/run-strata.ts';
import { networkCommand } from './network.ts';

const LOOPBACK = { STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_INFERENCE_PORT: '0' };

it('strata inference network is enabled for a gateway without a model, which prints the command for workers, and shows the peers', async () => {
  await using directory = await temporaryDirectory();
  const gateway = await succeed('inference gateway', {
    env: { STRATA_DATA: directory.path, ...LOOPBACK },
    interruptAt: /"url":"(http:[^"]*)\/v1","msg":"ready"/,
    whileAt: async ({ matched }) => {
      const env = { STRATA_INFERENCE_URL: matched[1] ?? '' };
      const { stdout } = await succeed('inference network', { env });
      assert.match(stdout, /^gateway 12D3\w+: 0 workers of 0 peers\n\nno worker offers a model\n/);
      const none = { peers: 0, workers: 0, models: 0, slots: 0, running: 0, waiting: 0 };
      assert.deepEqual((await jsonOf('inference network --json', { env })).totals, none);
    },
  });
  const how = /^To add a worker, run [^\n]*:\n {2}npx strata inference worker .* --join strata1\w+\n$/;
  assert.match(gateway.stdout, how);
});

it('strata inference network shows the work of the workers by worker, key, model and day', async () => {
  await using directory = await temporaryDirectory();
  const env = { STRATA_DATA: path.join(directory.path, 'accounts') };
  const command = 'inference network accounts';
  const accounts = async (more = '') => (await succeed(command + more, { env })).stdout;
  const none = /^strata: no gateway has run here: \S+inference\.db does not exist; check STRATA_DATA\n$/;
  assert.equal((await assertEnds(command, 1, none, { env })).stdout, '');
  assert.ok(!existsSync(env.STRATA_DATA), 'reading makes nothing');
  await (await openGatewayStore(readGatewayConfig(env)))[Symbol.asyncDispose]();
  assert.match(await accounts(), /^no receipts since \d{4}-\d\d-\d\d\n$/);
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

it('strata inference network continues to watch when the gateway is temporarily offline', async () => {
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
  const words = /^strata: no response from \S+; is the gateway running\?; retrying\n$/;
  assert.match(context.stderr.text, words);
  assert.equal(asked, 4);
});

it('strata inference network prints the token of a private network as a secret, and never in the log', async () => {
  const token = createJoinToken({
    peer: '12D3KooWEW1NqyKPpRGMQ5RZQJA9uG3xpnW5cGWRZC5YUisGHZfz',
    addresses: ['/ip4/127.0.0.1/tcp/1'],
    networkKey: new Uint8Array(32).fill(7),
  });
  await using directory = await temporaryDirectory();
  const env = { ...LOOPBACK, STRATA_JOIN: token, STRATA_DATA: directory.path };
  const gateway = await runStrata('inference gateway', { env, interruptAt: /--join strata1/ });
  const secret = / --join strata1\w+\nThe token contains the key of this private network\. Keep it secret\.\n$/;
  assert.match(gateway.stdout, secret);
  const quiet = { STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' };
  const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0' };
  const ready = /chat completions: ready/;
  const both = await runStrata('start', { env: { ...env, ...quiet, ...ports }, interruptAt: ready });
  assert.match(both.stdout + both.stderr, ready);
  assert.doesNotMatch(gateway.stderr + both.stdout + both.stderr, /strata1/);
});

/** Requests one answer from the first worker and settles its receipt. Returns the number of tokens. */
async function oneAnswer({ greeted, node }: Awaited<ReturnType<typeof startScriptedGateway>>): Promise<number> {
  const channel = await greeted();
  const { offer } = await channel.until('offer');
  const request = requestOf(1, { modelSha256: decodeOffer(offer).models[0]?.sha256 ?? '', maxTokens: 8 });
  const end = await channel.ask(request);
  if (end.kind === 'failed') throw new Error(end.message);
  const signature = await node.sign(settleSignedBytes(end.receipt));
  await channel.send({ kind: 'settle', nonce: request.nonce, signature });
  // After two heartbeats the worker has stored the settlement.
  const { length } = channel.frames;
  await until(() => channel.frames.slice(length).filter(({ kind }) => kind === 'pulse').length >= 2);
  return channel.tokensOf(request.id).length;
}

it('strata inference worker serves a gateway with one command, disconnects on SIGINT, and shows its earnings', async () => {
  await using data = await temporaryDirectory();
  await using other = await temporaryDirectory();
  await using scripted = await startScriptedGateway();
  const gateway = scripted.node;
  const answered = oneAnswer(scripted);
  const env = { STRATA_DATA: data.path, STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off' };
  const command = ['inference', 'worker', '--model', tinyChatModel, '--name', 'tiny', '--join', scripted.address];
  const waiting = { env, interruptAt: /serving gateway/, whileAt: () => answered };
  const { stdout: worker } = await succeed(command, waiting);
  const tokens = await answered;
  assert.match(worker, /^model tiny \(.+, context of \d+ tokens, 4 slots\)\npeer 12D3\w+\n/);
  for (const what of ['serving gateway', 'joined the network at'])
    assert.match(worker, new RegExp(`^${what} ${gateway.id}$`, 'm'));
  assert.ok(tokens > 0);
  assert.doesNotMatch(worker, /reconnecting/, 'it disconnected itself');

  const earnings = 'inference worker earnings';
  const counts = { prompt_tokens: 3, cached_tokens: 0, output_tokens: tokens };
  const byGateway = [{ gateway: gateway.id, segments: 1, settled: 1, ...counts }];
  assert.deepEqual(await jsonOf(`${earnings} --by gateway --json`, { env }), byGateway);
  assert.match((await succeed(earnings, { env })).stdout, /day +segments +settled +prompt +cached +output/);

  const { stdout: exported } = await succeed(`${earnings} --export`, { env });
  const elsewhere = { STRATA_DATA: other.path };
  const verified = await succeed(`${earnings} --verify -`, { env: elsewhere, input: exported });
  assert.match(verified.stdout, /^1 receipt signed by worker and gateway, 0 /);
  const proof = JSON.parse(exported) as { receipt: string };
  const altered = Buffer.from(proof.receipt, 'base64');
  altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
  const invalid = [{ ...proof, output_tokens: 4_700 }, { ...proof, worker: gateway.id }, proof, proof, 'nonsense'];
  const lines = [{ ...proof, receipt: altered.toString('base64') }, ...invalid];
  const input = lines.map((line) => JSON.stringify(line)).join('\n');
  const file = path.join(other.path, 'export.jsonl');
  await writeFile(file, input);
  const refused = await assertEnds([...earnings.split(' '), '--verify', file], 1, /./, { env: elsewhere });
  const summary = `1 receipt signed by worker and gateway, 0 by the worker only, 5 invalid; ${tokens} tokens\n`;
  assert.equal(refused.stdout, summary, refused.stderr);
  for (const message of casesOf<string[]>('cli', 'invalid receipts'))
    assert.ok(refused.stderr.includes(message), refused.stderr);
});

it('strata inference worker names what is wrong with what it was given', async () => {
  await using data = await temporaryDirectory();
  const cut = path.join(data.path, 'cut.gguf');
  await writeFile(cut, (await readFile(tinyChatModel)).subarray(0, 100_000));
  for (const [args, env, code, words] of [
    [['earnings'], {}, 1, /has not served anything yet/],
    [[], {}, 2, /no model: set --model/],
    [['--model', data.path], {}, 1, /is a directory, not a GGUF file/],
    [['--model', cut], {}, 1, /is truncated \(it has 100.0 kB\)/],
    [['--model', cut, '--slots', '0'], {}, 2, /--slots.*an integer from 1 to 64/],
    [['--model', cut, '--slots', 'many'], {}, 2, /--slots.*an integer from 1 to 64/],
    [[], { STRATA_P2P: 'listen=here' }, 2, /STRATA_P2P: listen: 'here' is not a multiaddr/],
    [[], { STRATA_MODEL: tinyChatModel, STRATA_P2P: 'network-key-file=no.key' }, 1, /network key cannot be read/],
  ] as const)
    await assertEnds(['inference', 'worker', ...args], code, words, { env: { STRATA_DATA: data.path, ...env } });
});
