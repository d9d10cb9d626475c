import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL } from './test/scripted-upstream.ts';
import { failedAs, unusedPort, useUpstream } from './test/upstream-harness.ts';

describe('an upstream that is opened', () => {
  const world = useUpstream();
  const models = (model: object) => ({ object: 'list', data: [{ id: 'other' }, { id: MODEL, ...model }] });
  const llama = models({ owned_by: 'llamacpp', meta: { n_ctx_train: 8_192 } });
  const props = { default_generation_settings: { n_ctx: 1_024 }, build_info: 'b7000-abc' };

  const llamaFacts = { kind: 'llama.cpp', engine: 'llama.cpp b7000-abc', contextLength: 1_024, ownedBy: 'llamacpp' };
  const vllm = models({ owned_by: 'vllm', max_model_len: 4_096 });
  const others = { kind: 'other', engine: 'other', contextLength: undefined, ownedBy: 'somebody', places: 4 };
  for (const [pages, expected] of [
    [{ '/v1/models': llama, '/props': props }, llamaFacts],
    [{ '/v1/models': llama }, { kind: 'llama.cpp', engine: 'llama.cpp', contextLength: 8_192 }],
    [
      { '/v1/models': vllm, '/version': { version: '0.12.0' } },
      { kind: 'vllm', engine: 'vllm 0.12.0', contextLength: 4_096 },
    ],
    [
      { '/v1/models': models({ owned_by: 'library' }), '/api/version': { version: '0.13.1' } },
      { kind: 'ollama', engine: 'ollama 0.13.1', contextLength: undefined },
    ],
    [{ '/v1/models': models({ owned_by: 'somebody' }) }, others],
  ] as [Record<string, unknown>, Record<string, unknown>][])
    it(`describes ${expected.engine} and its context`, async () => {
      Object.assign(world.server.pages, pages);
      const { info } = await world.open();
      const { origin } = new URL(world.server.base);
      assert.deepEqual({ ...info, ...expected, name: MODEL, origin }, info);
      assert.equal((await world.open({ contextLength: 512 })).info.contextLength, 512);
    });

  it('is refused where the model is missing, with a list of what there is', async () => {
    await assert.rejects(world.open({ model: 'gone' }), failedAs('model-unusable', /has no model 'gone': it has 'm'$/));
    world.server.pages['/v1/models'] = { data: [] };
    await assert.rejects(world.open(), failedAs('model-unusable', /it has none/));
    world.server.pages['/v1/models'] = { data: Array.from({ length: 25 }, (_, at) => ({ id: `m${at}` })) };
    await assert.rejects(world.open(), failedAs('model-unusable', /'m19' and 5 more$/));
  });

  it('finds a model by the names that servers give it', async () => {
    const data = [{ id: 'llama3:latest' }, { id: '/models/tiny.gguf', aliases: ['small'] }];
    world.server.pages['/v1/models'] = { data };
    for (const model of ['llama3', 'llama3:latest', 'tiny.gguf', 'small', '/models/tiny.gguf'])
      assert.equal((await world.open({ model })).info.name, model);
    await assert.rejects(world.open({ model: 'tiny' }), failedAs('model-unusable'));
  });

  it('is refused where there is no such server', async () => {
    world.server.pages['/v1/models'] = { hello: 'world' };
    await assert.rejects(world.open(), failedAs('upstream-failed', /no list of models/));
    const baseUrl = `http://127.0.0.1:${await unusedPort()}/v1`;
    const retries: unknown[] = [];
    const opening = world.open({ baseUrl, retries: 1 }, { onRetry: (event) => retries.push(event) });
    await assert.rejects(opening, failedAs('upstream-failed', /cannot be reached \(ECONNREFUSED\)/));
    assert.deepEqual(retries, [{ detail: 'the upstream cannot be reached (ECONNREFUSED)', waitMs: 125 }]);
  });

  it('needs a valid address and key', async () => {
    for (const baseUrl of ['localhost:8080', 'ftp://a/v1', 'http://me:word@a/v1', 'http://a/v1?key=1', ''])
      await assert.rejects(world.open({ baseUrl }), failedAs('upstream-refused', /the address of an upstream/));
    // Without the key itself.
    await assert.rejects(world.open({ apiKey: 'a\r\nb' }), { message: /^(?!.*a\r)the key of an upstream/s });
    assert.equal((await world.open({ baseUrl: `${world.server.base}/` })).info.name, MODEL);
  });
});
