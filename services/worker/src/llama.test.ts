// The real thing: llama.cpp with a small model, lent to a gateway.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { decodeOffer, encodeFrame, type FrameOf } from '@strata/inference';
import { tinyChatModel } from '@strata/testnet';
import pino from 'pino';
import { readWorkerConfig } from './config.ts';
import { startWorker } from './run-worker.ts';
import { requestOf } from './test/running-worker.ts';
import { startScriptedGateway } from './test/scripted-gateway.ts';

it('a worker on llama.cpp gives its vocabulary, continues its own answers token by token, scores them as its own, and outlives a grammar without end', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-llama-'));
  try {
    await using gateway = await startScriptedGateway();
    const config = readWorkerConfig({
      ...{ STRATA_DATA: directory, STRATA_MODEL: tinyChatModel, STRATA_JOIN: gateway.address },
      ...{ STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MODEL_PROCESSES: '1' },
    });
    await using _worker = await startWorker(config, { logger: pino({ level: 'silent' }) });
    const channel = await gateway.greeted();
    const [model] = decodeOffer((await channel.until('offer')).offer).models;
    assert.ok(model);
    assert.equal(model.name, path.basename(tinyChatModel, '.gguf'));
    assert.ok(model.decodeTokensPerSecond > 1 && model.prefillTokensPerSecond > 1, 'its speed was measured');

    await channel.send({ kind: 'vocabularyAsk', id: 1, vocabularySha256: model.vocabularySha256, from: 0 });
    const { part, sizeBytes } = await channel.until('vocabularyPart');
    assert.equal(part.byteLength, sizeBytes, 'it is small enough for one part');
    assert.equal(createHash('sha256').update(part).digest('hex'), model.vocabularySha256);

    const asked = { modelSha256: model.sha256, prompt: [5, 6, 7, 8], maxTokens: 12 };
    const answerOf = async (id: number, change: Partial<FrameOf<'request'>> = {}) => {
      const end = await channel.ask(requestOf(id, { ...asked, ...change }));
      assert.ok(end.kind === 'done', end.kind === 'failed' ? end.message : '');
      return { tokens: channel.tokensOf(id), isStopped: end.reason === 'stop' };
    };
    const { tokens, isStopped } = await answerOf(2);
    assert.ok(tokens.length > 2);
    const rest = await answerOf(3, { given: tokens.slice(0, 2) });
    assert.deepEqual(rest.tokens, tokens.slice(2));

    const { sampling } = requestOf(1);
    const score = { kind: 'score', id: 4, modelSha256: model.sha256, prompt: asked.prompt, sampling } as const;
    await channel.send({ ...score, answer: tokens, hasEnd: isStopped });
    const { margins } = await channel.until('scored');
    assert.ok(
      margins.every((margin) => margin < 1),
      `${margins}`,
    );

    const refused = await channel.ask(requestOf(5, { ...asked, grammar: 'root ::= "unended' }));
    assert.equal(refused.kind === 'failed' && refused.code, 'grammar-unusable');
    assert.ok(encodeFrame(refused).byteLength < 1_000);

    // 4 ways in each of 30 rules, in each other: llama.cpp does not come back.
    const rules = Array.from({ length: 30 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}? | r${i + 1}? r${i + 1}`);
    const codeOf = async (id: number, change: Partial<FrameOf<'request'>>) => {
      const end = await channel.ask(requestOf(id, { ...asked, ...change }));
      return end.kind === 'failed' ? end.code : end.kind;
    };
    const grammar = ['root ::= r0 r0', ...rules, 'r30 ::= "a"? "b"?'].join('\n');
    assert.equal(await codeOf(6, { grammar }), 'grammar-unusable');
    assert.equal(await codeOf(7, { grammar: 'root ::= "a"' }), 'busy', 'its grammars are not taken for a while');
    assert.equal(await codeOf(8, {}), 'done');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
