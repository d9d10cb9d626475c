// llama.cpp with a small model, contributed to a gateway.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import path from 'node:path';
import { it } from 'node:test';
import { decodeOffer, encodeFrame } from '@strata/inference';
import { tinyChatModel } from '@strata/testnet';
import pino from 'pino';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { startWorker } from './run-worker.ts';
import { configOf, requestOf } from './test/running-worker.ts';
import { reasonOf, startScriptedGateway } from './test/scripted-gateway.ts';

// Continued answers and scores of llama.cpp are proved in packages/engine/src/process/replay.test.ts.
it('a worker on llama.cpp measures its speed, sends its vocabulary, answers, and survives an endless grammar', async () => {
  await using directory = await temporaryDirectory();
  await using gateway = await startScriptedGateway();
  const settings = { STRATA_DATA: directory.path, STRATA_MODEL: tinyChatModel, STRATA_MODEL_PROCESSES: '1' };
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
  const codeOf = async (id: number, grammar?: string) =>
    reasonOf(await channel.ask(requestOf(id, { ...asked, ...(grammar === undefined ? {} : { grammar }) })));
  const refused = await channel.ask(requestOf(2, { ...asked, grammar: 'root ::= "unended' }));
  assert.ok(reasonOf(refused) === 'grammar-unusable' && encodeFrame(refused).byteLength < 1_000);

  // 4 alternatives in each of 30 nested rules: llama.cpp does not terminate.
  const rules = Array.from({ length: 30 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}? | r${i + 1}? r${i + 1}`);
  const endless = ['root ::= r0 r0', ...rules, 'r30 ::= "a"? "b"?'].join('\n');
  assert.equal(await codeOf(3, endless), 'grammar-unusable');
  assert.equal(await codeOf(4, 'root ::= "a"'), 'busy', 'its grammars are not taken for a while');
  assert.match(await codeOf(5), /^(stop|length)$/);
});
