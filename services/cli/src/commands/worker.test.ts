// `strata inference worker` as a user runs it, and its earnings, with a gateway that speaks the frames.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  decodeFrame,
  decodeOffer,
  encodeFrame,
  PROTOCOL,
  PROTOCOL_VERSION,
  settleSignedBytes,
} from '@strata/inference';
import { type Channel, startPeerNode } from '@strata/p2p';
import { tinyChatModel } from '@strata/testnet';
import { assertEnds, jsonOf, succeed, temporaryDirectory } from '../test/run-strata.ts';

const SAMPLING = {
  ...{ temperature: 0, topP: 1, topK: 0, minP: 0, presencePenalty: 0, frequencyPenalty: 0 },
  ...{ logitBias: [], seed: 1 },
};

/** Asks the first worker that comes for one answer, and agrees to its receipt. */
async function oneAnswer(channel: Channel, sign: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<number> {
  const nonce = randomBytes(16);
  let tokens = 0;
  await channel.send(encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software: 'test/1', role: 'gateway' }));
  for await (const bytes of channel.messages) {
    const frame = decodeFrame(bytes);
    if (frame.kind === 'offer' && tokens === 0) {
      const modelSha256 = decodeOffer(frame.offer).models[0]?.sha256 ?? '';
      const fixed = { prompt: [1, 2, 3], given: [], replay: 'exact', maxTokens: 8, credit: 100 } as const;
      await channel.send(encodeFrame({ kind: 'request', id: 1, nonce, modelSha256, ...fixed, sampling: SAMPLING }));
    } else if (frame.kind === 'tokens') tokens += frame.tokens.length;
    else if (frame.kind === 'failed') throw new Error(frame.message);
    else if (frame.kind === 'done') {
      const signature = await sign(settleSignedBytes(frame.receipt));
      await channel.send(encodeFrame({ kind: 'settle', nonce, signature }));
      // Two pulses later it has been received and kept.
      let pulses = 0;
      for await (const later of channel.messages) {
        if (decodeFrame(later).kind === 'pulse') pulses += 1;
        if (pulses === 2) return tokens;
      }
    }
  }
  throw new Error('the worker is gone');
}

describe('strata inference worker', () => {
  it('serves a gateway by one command, leaves when it is told to, and shows what it has earned', async () => {
    await using data = await temporaryDirectory();
    await using other = await temporaryDirectory();
    const keyFile = path.join(other.path, 'peer.key');
    await using gateway = await startPeerNode({ keyFile, listen: ['/ip4/127.0.0.1/tcp/0'], isMdnsOn: false });
    const answered = Promise.withResolvers<number>();
    await gateway.channels.handle(PROTOCOL, (channel) => {
      oneAnswer(channel, (bytes) => gateway.sign(bytes)).then(answered.resolve, answered.reject);
    });
    const env = { STRATA_DATA: data.path, STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' };
    const [address = ''] = gateway.addresses();
    const { stdout: worker } = await succeed(
      ['inference', 'worker', '--model', tinyChatModel, '--name', 'tiny', '--join', address],
      { env, interruptAt: /serving gateway/, whileAt: () => answered.promise },
    );
    const tokens = await answered.promise;
    assert.match(worker, /^lending tiny \(.+ tokens of context, 4 answers at once\)\nas 12D3\w+\n/);
    for (const what of ['serving gateway', 'joined the network at'])
      assert.match(worker, new RegExp(`^${what} ${gateway.id}$`, 'm'));
    assert.ok(tokens > 0);
    assert.doesNotMatch(worker, /looked for again/, 'it left by itself');

    const earnings = 'inference worker earnings';
    const counts = { prompt_tokens: 3, cached_tokens: 0, output_tokens: tokens };
    const byGateway = [{ gateway: gateway.id, segments: 1, settled: 1, ...counts }];
    assert.deepEqual(await jsonOf(`${earnings} --by gateway --json`, { env }), byGateway);
    assert.match((await succeed(earnings, { env })).stdout, /day +segments +settled +prompt +cached +output/);

    const { stdout: exported } = await succeed(`${earnings} --export`, { env });
    const elsewhere = { STRATA_DATA: other.path };
    const verified = await succeed(`${earnings} --verify -`, { env: elsewhere, input: exported });
    assert.match(verified.stdout, /^1 receipt signed by both sides, 0 /);
    const proof = JSON.parse(exported) as { receipt: string };
    const altered = Buffer.from(proof.receipt, 'base64');
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    const lines = [
      { ...proof, receipt: altered.toString('base64') },
      ...[{ ...proof, output_tokens: 4_700 }, { ...proof, worker: gateway.id }, proof, proof, 'nonsense'],
    ];
    const input = lines.map((line) => JSON.stringify(line)).join('\n');
    const file = path.join(other.path, 'export.jsonl');
    await writeFile(file, input);
    const refused = await assertEnds([...earnings.split(' '), '--verify', file], 1, /./, { env: elsewhere });
    const summary = `1 receipt signed by both sides, 0 by the worker alone, 5 wrong; ${tokens} tokens\n`;
    assert.equal(refused.stdout, summary, refused.stderr);
    for (const words of [
      'line 1: the signature is not that of the worker',
      'line 2: output_tokens is not what was signed',
      'line 3: worker is not what was signed',
      'line 5: its receipt stands at line 4 already',
      'line 6: it is no line of an export',
    ])
      assert.ok(refused.stderr.includes(words), refused.stderr);
  });

  it('names what is wrong with what it was given', async () => {
    await using data = await temporaryDirectory();
    const cut = path.join(data.path, 'cut.gguf');
    await writeFile(cut, (await readFile(tinyChatModel)).subarray(0, 100_000));
    for (const [args, env, code, words] of [
      [['earnings'], {}, 1, /has served nothing yet/],
      [[], {}, 2, /no model to lend/],
      [['--model', data.path], {}, 1, /is a folder, and no GGUF file/],
      [['--model', cut], {}, 1, /is cut short \(it has 100.0 kB\)/],
      [['--model', cut, '--slots', '0'], {}, 2, /--slots.*a whole number from 1 to 64/],
      [['--model', cut, '--slots', 'many'], {}, 2, /--slots.*a whole number from 1 to 64/],
      [[], { STRATA_P2P_LISTEN: 'here' }, 2, /STRATA_P2P_LISTEN: 'here' is no multiaddr/],
      [[], { STRATA_MODEL: tinyChatModel, STRATA_NETWORK_KEY_FILE: 'no.key' }, 1, /network key cannot be read/],
    ] as const)
      await assertEnds(['inference', 'worker', ...args], code, words, { env: { STRATA_DATA: data.path, ...env } });
  });
});
