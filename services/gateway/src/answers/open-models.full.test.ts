// Several models in one gateway, as llama.cpp processes that are started and ended by a memory budget of one of them.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { randomModel } from '@strata/testnet';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { startHarness } from '../test/harness.ts';

const CHAT = '/v1/chat/completions';
const shape = { name: 'noise', weights: 'F16', layers: 2, width: 64, heads: 4, hidden: 128, context: 512 } as const;
const messages = [{ role: 'user', content: 'hi' }];
/** The token that ends answers is forbidden. */
const endless = { messages, logit_bias: { 258: -100 } };

it('several models are loaded at their first request, and closed when another one needs the memory', async () => {
  await using directory = await temporaryDirectory();
  const files = ['a', 'b', 'removed'].map((id) => path.join(directory.path, `${id}.gguf`));
  for (const [seed, file] of files.entries()) await writeFile(file, randomModel({ ...shape, seed }));
  const settings = (memory: number) => ({
    ...{ STRATA_MODEL: files.join(', '), STRATA_MODEL_OPTIONS: `slots=1,processes=1,memory=${memory}` },
  });
  await assert.rejects(startHarness(settings(0.05)), {
    message:
      /model a needs about 1\d\d\.\d MB of memory \(file 2\d\d\.\d kB, 1 slots of 512 tokens.* than the 50\.0 MB/,
  });
  await using service = await startHarness(settings(0.2));
  const loaded = async () => {
    const { body } = await service.get('/v1/models');
    assert.equal(body.data.length, 3);
    return body.data.filter((model: { loaded: boolean }) => model.loaded).map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await loaded(), ['a']);
  assert.deepEqual((await service.get('/ready')).body.models, ['a', 'b', 'removed']);

  const tooLong = await service.post(CHAT, { model: 'b', messages: [{ role: 'user', content: 'x'.repeat(600) }] });
  assert.deepEqual([tooLong.status, tooLong.body.error.code], [400, 'context_length_exceeded']);
  assert.deepEqual(await loaded(), ['a'], 'an unusable request loads nothing');

  const text = async (model: string, maxTokens: number) => {
    const answer = await service.post(CHAT, { model, ...endless, seed: 1, max_tokens: maxTokens });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  // The stream is not cut by the requests that wait for its model's memory, and share one load.
  const stream = await service.open(CHAT, { model: 'a', ...endless, max_tokens: 400, stream: true });
  const waiting = await Promise.all([text('b', 3), text('b', 3)]);
  assert.match(await stream.text(), /"finish_reason":"length".*\[DONE\]\n\n$/s);
  assert.deepEqual(await loaded(), ['b']);
  const again = await text('b', 3);
  for (const { body } of waiting) assert.deepEqual(body.choices, again.body.choices);
  assert.deepEqual((await text('a', 400)).body.usage.completion_tokens, 400);

  await rm(files[2] as string);
  const asked = () => service.post(CHAT, { model: 'removed', ...endless });
  const failures = [await asked(), await asked()];
  for (const { status, headers, body } of failures) {
    assert.deepEqual([status, headers.get('retry-after'), body.error.code], [503, '5', 'overloaded']);
    assert.match(body.error.message, /^The model is not loaded: removed cannot be loaded; try again later\.$/);
  }
  assert.deepEqual((await service.get('/ready')).body.models, ['a', 'b']);
  assert.deepEqual(await loaded(), ['a'], 'nothing was closed for it');
  const { data } = (await service.get('/v1/models')).body as { data: { unavailable: string | null }[] };
  const reasons = data.map(({ unavailable }) => unavailable);
  assert.deepEqual(reasons, [null, null, 'removed cannot be loaded']);
  const metrics = await service.running.gateway.monitoring.metrics.registry.metrics();
  const figures = [...metrics.matchAll(/^strata_model_\w+\{what="(\w+)"\} (\d+)$/gm)];
  const byWhat = figures.map(([, what, figure]) => [what, Number(figure)]);
  assert.partialDeepStrictEqual(Object.fromEntries(byWhat), { loaded: 3, evicted: 2, failed: 1, budget: 200_000_000 });
});
