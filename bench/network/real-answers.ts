// Requests to a real model with and without the network, and the answers that a client gets: the two must be equal.
import type { Engine } from '@strata/engine';
import { type ChatDelta, readChatRequest } from '@strata/inference';
import { EngineBackend } from '../../services/gateway/src/answers/engine-backend.ts';
import { NEVER } from '../../services/gateway/src/test/network/answers.ts';

const properties = { domain: { type: 'string', maxLength: 12 }, isDeep: { type: 'boolean' } };
const parameters = { type: 'object', properties, required: ['domain', 'isDeep'], additionalProperties: false };
const TOOL = { type: 'function', function: { name: 'find_domain', parameters } };
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
const FORMAT = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } };

/** By their special property. */
export const REQUESTS: Readonly<Record<string, object>> = {
  'JSON by a schema': FORMAT,
  'JSON by a schema, seeded': { ...FORMAT, temperature: 1, seed: 42 },
  'a call of a tool': { tools: [TOOL], tool_choice: 'required' },
  'a stop string': { stop: ['fails SPF'] },
  'words with their log-probabilities': { logprobs: true, top_logprobs: 3, max_tokens: 20 },
};

/** Deltas as a client gets them: ids of calls are random, and text is split arbitrarily. */
export async function deltasOf(engine: Engine, more: object) {
  const messages = [{ role: 'user', content: 'What is DMARC?' }];
  const request = readChatRequest({ model: 'm', messages, temperature: 0, ...more });
  const plan = await new EngineBackend(engine).planChat(request);
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const made: ChatDelta[] = [];
  for await (const deltas of plan.choices[0]?.deltas({ usage, context: {}, signal: NEVER }) ?? []) made.push(...deltas);
  const text = made.map((delta) => ('text' in delta ? delta.text : '')).join('');
  // Probabilities depend, far behind the decimal point, on the previous content of the slot.
  const rounded = (key: string, value: unknown) => (key === 'logprob' ? Math.round(Number(value)) : value);
  const deltas = made.map((delta) => JSON.stringify('id' in delta ? { ...delta, id: 'call' } : delta, rounded));
  return { text, deltas, tokens: usage.completionTokens };
}
