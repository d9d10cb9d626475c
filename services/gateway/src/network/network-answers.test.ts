// Whole answers of a real model over a network whose workers are killed: JSON by grammar, calls of tools, stop strings, log-probabilities.
// What the layer above tells its client is the same as without any network.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Engine, startLlamaEngine } from '@strata/engine';
import { type ChatDelta, readChatRequest } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { EngineBackend } from '../engine-backend.ts';
import { NEVER } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { WorkerScript } from '../test/network/scripted-worker.ts';

let bed: NetworkBed;
let model: Engine;
before(async () => {
  [bed, model] = await Promise.all([NetworkBed.start(2), startLlamaEngine({ file, slots: 2, threads: 1, gpu: false })]);
});
after(async () => {
  await bed?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const TOOL = {
  type: 'function',
  function: {
    name: 'look_up',
    parameters: {
      type: 'object',
      properties: { domain: { type: 'string', maxLength: 12 }, isDeep: { type: 'boolean' } },
      required: ['domain', 'isDeep'],
      additionalProperties: false,
    },
  },
};
const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 10 },
    kind: { enum: ['mail', 'dns', 'web'] },
    counts: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 99 }, minItems: 2, maxItems: 3 },
  },
  required: ['name', 'kind', 'counts'],
  additionalProperties: false,
};

const requests: Record<string, object> = {
  'JSON by a schema': { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } },
  'JSON by a schema, seeded': {
    ...{ response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } },
    ...{ temperature: 1, seed: 42 },
  },
  'a call of a tool': { tools: [TOOL], tool_choice: 'required' },
  'a stop string': { stop: ['fails SPF'] },
  'words with their log-probabilities': { logprobs: true, top_logprobs: 3, max_tokens: 20 },
};

/** Deltas as a client would see them: ids of calls are drawn anew each time, and text comes in pieces of any size. */
async function toldOf(backend: EngineBackend, more: object) {
  const messages = [{ role: 'user', content: 'What is DMARC?' }];
  const plan = await backend.planChat(readChatRequest({ model: 'm', messages, temperature: 0, ...more }));
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const deltas: ChatDelta[] = [];
  for await (const delta of plan.choices[0]?.deltas({ usage, context: {}, signal: NEVER }) ?? []) deltas.push(delta);
  const text = deltas.map((delta) => ('text' in delta ? delta.text : '')).join('');
  // Probabilities depend, far behind the point, on what a slot has read before.
  const rounded = (key: string, value: unknown) => (key === 'logprob' ? Math.round(Number(value)) : value);
  const told = deltas.map((delta) => JSON.stringify('id' in delta ? { ...delta, id: 'call' } : delta, rounded));
  return { text, told, tokens: usage.completionTokens };
}

/** The worker of every other answer part is killed at its `parts[n]`-th token. */
function dyingAt(positions: readonly number[]): WorkerScript {
  const left = new Set(positions);
  return {
    say(frame, worker) {
      if (frame.kind !== 'tokens' || !left.delete(frame.position)) return [frame];
      worker.kill();
      return [];
    },
  };
}

describe('an answer of a real model whose workers are killed', () => {
  for (const [what, more] of Object.entries(requests))
    it(`is the same: ${what}`, async (context) => {
      const undisturbed = await toldOf(new EngineBackend(model), more);
      assert.ok(undisturbed.tokens >= 6, `${undisturbed.tokens} tokens`);
      const last = undisturbed.tokens - 1;
      const cuts = [[0], [3, 4], [2, Math.floor(last / 2), last - 1, last]];
      for (const positions of cuts) {
        await bed.fresh();
        const script = dyingAt(positions);
        const connect = (at: number) => bed.worker(at, model, script);
        await Promise.all([connect(0), connect(1)]);
        const { noteLost } = bed.fleet;
        const back: Promise<unknown>[] = [];
        bed.fleet.noteLost = (peer, loss) => {
          noteLost.call(bed.fleet, peer, loss);
          back.push(connect(bed.nodes.findIndex(({ id }) => id === peer)));
        };
        await using engine = bed.engine(model.info.sha256, { info: () => model.info, vocabulary: model });
        const told = await toldOf(new EngineBackend(engine), more);
        await Promise.all(back);
        assert.deepEqual(told, undisturbed, `killed at ${positions}`);
        assert.equal(bed.fleet.lost.length, positions.length);
        assert.deepEqual(bed.trust.breaches, []);
      }
      if (what.startsWith('JSON')) assert.deepEqual(Object.keys(JSON.parse(undisturbed.text)), SCHEMA.required);
      context.diagnostic(`${undisturbed.tokens} tokens, ${cuts.flat().length} kills`);
    });
});
