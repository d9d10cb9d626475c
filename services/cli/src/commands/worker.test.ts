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
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

/** Asks the first worker that comes for one answer, and agrees to its receipt. */
async function oneAnswer(channel: Channel, sign: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<number> {
  const nonce = randomBytes(16);
  let tokens = 0;
  await channel.send(encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software: 'test/1', role: 'gateway' }));
  for await (const bytes of channel.messages) {
    const frame = decodeFrame(bytes);
    if (frame.kind === 'offer' && tokens === 0)
      await channel.send(
        encodeFrame({
          ...{ kind: 'request', id: 1, nonce, modelSha256: decodeOffer(frame.offer).models[0]?.sha256 ?? '' },
          ...{ prompt: [1, 2, 3], given: [], replay: 'exact', maxTokens: 8, credit: 100 },
          sampling: {
            ...{ temperature: 0, topP: 1, topK: 0, minP: 0, presencePenalty: 0, frequencyPenalty: 0 },
            ...{ logitBias: [], seed: 1 },
          },
        }),
      );
    else if (frame.kind === 'tokens') tokens += frame.tokens.length;
    else if (frame.kind === 'failed') throw new Error(frame.message);
    else if (frame.kind === 'done') {
      await channel.send(
        encodeFrame({ kind: 'settle', nonce, signature: await sign(settleSignedBytes(frame.receipt)) }),
      );
      // Two pulses later it has been heard and kept.
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
    await using gateway = await startPeerNode({
      keyFile: path.join(other.path, 'peer.key'),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      isMdnsOn: false,
    });
    const answered = Promise.withResolvers<number>();
    await gateway.channels.handle(PROTOCOL, (channel) => {
      oneAnswer(channel, (bytes) => gateway.sign(bytes)).then(answered.resolve, answered.reject);
    });
    const env = { STRATA_DATA: data.path, STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' };
    const [address = ''] = gateway.addresses();
    let tokens = 0;
    const worker = await runStrata(
      ['inference', 'worker', '--model', tinyChatModel, '--name', 'tiny', '--join', address],
      {
        env,
        interruptAt: /serving gateway/,
        async whileAt() {
          tokens = await answered.promise;
        },
      },
    );
    assert.equal(worker.code, 0, worker.stderr);
    assert.match(worker.stdout, /^lending tiny \(.+ tokens of context, 4 answers at once\)\nas 12D3\w+\n/);
    assert.match(worker.stdout, new RegExp(`^serving gateway ${gateway.id}$`, 'm'));
    assert.match(worker.stdout, new RegExp(`^joined the network at ${gateway.id}$`, 'm'));
    assert.ok(tokens > 0);
    assert.doesNotMatch(worker.stdout, /looked for again/, 'it left by itself');

    const earnings = ['inference', 'worker', 'earnings'];
    const byGateway = JSON.parse((await runStrata([...earnings, '--by', 'gateway', '--json'], { env })).stdout);
    assert.deepEqual(byGateway, [
      {
        ...{ gateway: gateway.id, segments: 1, settled: 1 },
        ...{ prompt_tokens: 3, cached_tokens: 0, output_tokens: tokens },
      },
    ]);
    assert.match((await runStrata(earnings, { env })).stdout, /day +segments +settled +prompt +cached +output/);

    const exported = (await runStrata([...earnings, '--export'], { env })).stdout;
    const elsewhere = { STRATA_DATA: other.path };
    const verified = await runStrata([...earnings, '--verify', '-'], { env: elsewhere, input: exported });
    assert.deepEqual([verified.code, /^1 receipt signed by both sides, 0 /.test(verified.stdout)], [0, true]);
    const proof = JSON.parse(exported) as { receipt: string };
    const altered = Buffer.from(proof.receipt, 'base64');
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    const file = path.join(other.path, 'export.jsonl');
    const lines = [
      { ...proof, receipt: altered.toString('base64') },
      ...[{ ...proof, output_tokens: 4_700 }, { ...proof, worker: gateway.id }, proof, proof, 'nonsense'],
    ];
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const refused = await runStrata([...earnings, '--verify', file], { env: elsewhere });
    assert.equal(refused.code, 1);
    assert.equal(
      refused.stdout,
      `1 receipt signed by both sides, 0 by the worker alone, 5 wrong; ${tokens} tokens\n`,
      refused.stderr,
    );
    for (const words of [
      'line 1: the signature is not that of the worker',
      'line 2: output_tokens is not what was signed',
      'line 3: worker is not what was signed',
      'line 5: its receipt stands at line 4 already',
      'line 6: it is no line of an export',
    ])
      assert.ok(refused.stderr.includes(words), refused.stderr);
  });

  it('says what is wrong with what it was given', async () => {
    await using data = await temporaryDirectory();
    const env = { STRATA_DATA: data.path };
    const command = ['inference', 'worker'];
    const cut = path.join(data.path, 'cut.gguf');
    await writeFile(cut, (await readFile(tinyChatModel)).subarray(0, 100_000));
    for (const [args, more, code, words] of [
      [[...command, 'earnings'], {}, 1, /has served nothing yet/],
      [command, {}, 2, /no model to lend/],
      [[...command, '--model', data.path], {}, 1, /is a folder, and no GGUF file/],
      [[...command, '--model', cut], {}, 1, /is cut short \(it has 100.0 kB\)/],
      [[...command, '--model', cut, '--slots', '0'], {}, 2, /--slots.*a whole number from 1 to 64/],
      [[...command, '--model', cut, '--slots', 'many'], {}, 2, /--slots.*a whole number from 1 to 64/],
      [command, { STRATA_P2P_LISTEN: 'here' }, 2, /STRATA_P2P_LISTEN: 'here' is no multiaddr/],
      [command, { STRATA_MODEL: tinyChatModel, STRATA_NETWORK_KEY_FILE: 'no.key' }, 1, /network key cannot be read/],
    ] as const) {
      const { code: seen, stderr } = await runStrata(args, { env: { ...env, ...more } });
      assert.equal(seen, code, stderr);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /unexpected|\n +at /);
    }
  });
});
