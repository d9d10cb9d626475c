// llama.cpp with a small model, contributed to a gateway.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { decodeOffer, encodeFrame, type FrameOf } from '@strata/inference';
import { randomModel, tinyChatModel } from '@strata/testnet';
import pino from 'pino';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { startWorker } from './run-worker.ts';
import { configOf, requestOf } from './test/running-worker.ts';
import { reasonOf, startScriptedGateway } from './test/scripted-gateway.ts';

it('a worker on llama.cpp sends its vocabulary, continues its own answers token by token, scores them as its own, and survives an endless grammar', async () => {
  await using directory = await temporaryDirectory();
  await using gateway = await startScriptedGateway();
  const settings = { STRATA_DATA: directory.path, STRATA_MODEL: tinyChatModel, STRATA_MODEL_OPTIONS: 'processes=1' };
  const config = configOf({ ...settings, STRATA_JOIN: gateway.address });
  await using _worker = await startWorker(config, { logger: pino({ level: 'silent' }) });
  const channel = await gateway.greeted();
  const [model] = decodeOffer((await channel.until('offer')).offer).models;
  assert.ok(model && model.decodeTokensPerSecond > 1 && model.prefillTokensPerSecond > 1, 'its speed was measured');
  assert.equal(model.name, path.basename(tinyChatModel, '.gguf'));

  await channel.send({ kind: 'vocabularyAsk', id: 1, vocabularySha256: model.vocabularySha256, from: 0 });
  const { part, sizeBytes } = await channel.until('vocabularyPart');
  assert.deepEqual([part.byteLength, hash('sha256', part)], [sizeBytes, model.vocabularySha256], 'in one part');

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
  assert.ok(Math.max(...margins) < 1, `${margins}`);

  const refused = await channel.ask(requestOf(5, { ...asked, grammar: 'root ::= "unended' }));
  assert.ok(reasonOf(refused) === 'grammar-unusable' && encodeFrame(refused).byteLength < 1_000);

  // 4 alternatives in each of 30 nested rules: llama.cpp does not terminate.
  const rules = Array.from({ length: 30 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}? | r${i + 1}? r${i + 1}`);
  const codeOf = async (id: number, grammar?: string) =>
    reasonOf(await channel.ask(requestOf(id, { ...asked, ...(grammar === undefined ? {} : { grammar }) })));
  const grammar = ['root ::= r0 r0', ...rules, 'r30 ::= "a"? "b"?'].join('\n');
  assert.equal(await codeOf(6, grammar), 'grammar-unusable');
  assert.equal(await codeOf(7, 'root ::= "a"'), 'busy', 'its grammars are not taken for a while');
  assert.match(await codeOf(8), /^(stop|length)$/);
});

it('a worker with two models and memory for one loads each when it is asked for, and offers which one is loaded', async () => {
  await using directory = await temporaryDirectory();
  await using gateway = await startScriptedGateway();
  const shape = { name: 'noise', weights: 'F16', layers: 2, width: 64, heads: 4, hidden: 128, context: 512 } as const;
  const files = ['a', 'b'].map((id) => path.join(directory.path, `${id}.gguf`));
  for (const [seed, file] of files.entries()) await writeFile(file, randomModel({ ...shape, seed }));
  const config = configOf({
    ...{ STRATA_DATA: directory.path, STRATA_MODEL: files.join() },
    ...{ STRATA_MODEL_OPTIONS: 'memory=0.2,slots=2,processes=1', STRATA_JOIN: gateway.address },
  });
  await using _worker = await startWorker(config, { logger: pino({ level: 'silent' }) });
  const channel = await gateway.greeted();
  const loaded = ({ offer }: FrameOf<'offer'>) =>
    decodeOffer(offer).models.map(({ name, loadMs }) => (loadMs === undefined ? `${name} loaded` : name));
  const first = await channel.until('offer');
  assert.deepEqual(loaded(first), ['a loaded', 'b']);
  const { models } = decodeOffer(first.offer);
  assert.ok(models[0]?.decodeTokensPerSecond && models[1]?.decodeTokensPerSecond === 0, 'its speed is not known yet');
  assert.ok(models.every(({ fileTreeSha256 }) => fileTreeSha256 !== undefined));
  const [a, b] = models.map(({ sha256 }) => sha256);

  const tokensOf = async (id: number, modelSha256 = '') => {
    const end = await channel.ask(requestOf(id, { modelSha256, prompt: [5, 6, 7, 8], maxTokens: 12 }));
    assert.ok(end.kind === 'done', end.kind === 'failed' ? end.message : '');
    return channel.tokensOf(id);
  };
  const [ofB, ofA] = await Promise.all([tokensOf(1, b), tokensOf(2, a)]);
  assert.notDeepEqual(ofA, ofB);
  assert.deepEqual(await tokensOf(3, b), ofB);
  const isLoading = (frame: object) => 'jobs' in frame && JSON.stringify(frame.jobs).includes('waiting');
  assert.ok(channel.frames.some(isLoading), 'it waits while its model is loaded');
  await channel.until('offer', (offer) => loaded(offer).join() === 'a,b loaded');
  for (const [i, modelSha256] of [a, b].entries()) {
    await channel.send({ kind: 'chunkAsk', id: 10 + i, modelSha256: modelSha256 ?? '', index: 0 });
    const { part } = await channel.until('chunk', ({ id }) => id === 10 + i);
    assert.equal(part.byteLength, 65_536);
  }
});
