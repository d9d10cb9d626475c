// Jobs for the tiny chat model.
import assert from 'node:assert/strict';
import { GREEDY } from '@strata/inference';
import { tinyEngine } from '../../../../tests/support/tiny-engine.ts';
import type { ChatPrompt, Engine, Job, JobEvent } from '../index.ts';

export const never = new AbortController().signal;
/** The token that ends an answer; if it is forbidden, an answer never ends by itself. */
const END_OF_TURN = 1_023;
export const ENDLESS = { ...GREEDY, logitBias: new Map([[END_OF_TURN, -100]]) };
/** An object with two texts of any length; `string` is what each accepts. */
export const GRAMMAR = 'root ::= "{\\"a\\": " string ", \\"b\\": [" string "]}"\nstring ::= "\\"" [a-z }\\]]* "\\""';
export const GRAMMAR_TEXT = /^\{"a": "[a-z }\]]*", "b": \["[a-z }\]]*"\]\}$/;

export const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }], tools: [] });

export async function jobFor(question: string, more: Partial<Job> = {}): Promise<Job> {
  const prompt = await (await tinyEngine()).render(user(question));
  return { prompt, given: [], replay: 'exact', maxTokens: 200, sampling: GREEDY, ...more };
}

/** The complete answer, from the shared engine by default. */
export async function run(job: Job, engine?: Engine) {
  const events: readonly JobEvent[] = await Array.fromAsync((engine ?? (await tinyEngine())).generate(job, never));
  const [begin] = events;
  assert.ok(begin?.kind === 'begin');
  const chosen = events.filter((event) => event.kind === 'token');
  return {
    tokens: chosen.map(({ token }) => token),
    text: Buffer.concat(chosen.map(({ bytes }) => bytes)).toString(),
    cachedTokens: begin.cachedTokens,
    events,
    end: events.at(-1),
  };
}
