// Shared by the test files of one process: one loaded model, and one gateway with default settings that serves it.
import assert from 'node:assert/strict';
import { shared } from '../../../../tests/support/shared.ts';
import { tinyEngine } from '../../../../tests/support/tiny-engine.ts';
import { type Answer, type Harness, type Json, MODEL, startHarness } from './harness.ts';
import { until } from './network/answers.ts';

/** A separate gateway on the shared model. */
export async function startOnSharedEngine(settings: Record<string, string> = {}): Promise<Harness> {
  return startHarness({ STRATA_MODEL: '', ...settings }, { engines: { [MODEL]: await tinyEngine() } });
}

/** The gateway for all tests that change no settings. */
export const sharedGateway = shared(() => startOnSharedEngine());
export const post: Harness['post'] = async (...asked) => (await sharedGateway()).post(...asked);
export const get: Harness['get'] = async (...asked) => (await sharedGateway()).get(...asked);

export const MESSAGES = [{ role: 'user' as const, content: 'What is DMARC?' }];
/** Forbids the token that ends answers of the model: they end at their limit, or that of the context. */
export const ENDLESS = { model: MODEL, messages: MESSAGES, logit_bias: { 1023: -100 } };

/** Waits until no answer holds or awaits a slot. */
export const untilIdle = (...gateways: readonly Harness[]): Promise<void> =>
  until(() => gateways.every(({ running }) => running.gateway.models.busy === 0));

/** The chunks of a completed stream. */
export function chunksOf({ text, headers }: Answer): readonly Json[] {
  assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const blocks = text.split('\n\n');
  assert.deepEqual(blocks.splice(-2), ['data: [DONE]', '']);
  return blocks.map((block) => JSON.parse(block.replace(/^data: /, '')));
}

export type Refused = readonly [status: number, code: string | null, param: string | null];

/** Asserts an error in the format of the contract, with a readable message. */
export function assertRefusal({ status, headers, body, text }: Answer, expected: Refused) {
  assert.equal(headers.get('x-content-type-options'), 'nosniff', text);
  assert.deepEqual(Object.keys(body), ['error'], text);
  const { error } = body;
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
  assert.deepEqual([status, error.code, error.param], expected, text);
  assert.equal(error.type, 'invalid_request_error');
  assert.ok(error.message.length > 10 && !/undefined|\[object/.test(error.message), error.message);
}
