// A scripted server for each test, and the upstreams opened to it.
import { afterEach, beforeEach } from 'node:test';
import { type ChatDelta, type ChatRequest, type ErrorName, readChatRequest } from '@strata/inference';
import type { EngineErrorCode } from '../engine.ts';
import {
  type AskDeps,
  openUpstream,
  type Upstream,
  type UpstreamDeps,
  type UpstreamOptions,
  type UpstreamUsage,
} from '../upstream/upstream.ts';
import { MODEL, startScripted } from './scripted.ts';

export const KEY = 'sk-very-secret';

export interface World {
  server: Awaited<ReturnType<typeof startScripted>>;
  stack: AsyncDisposableStack;
  open(options?: Partial<UpstreamOptions>, deps?: UpstreamDeps): Promise<Upstream>;
}

/** Recreated before each test of the suite that calls this. */
export function useUpstream(): World {
  const world = {
    async open(options, parts) {
      const all = { baseUrl: world.server.base, model: MODEL, slots: 4, apiKey: KEY, ...options };
      // Without jitter: each delay has its minimum.
      return world.stack.use(await openUpstream(all, { random: () => 0, ...parts }));
    },
  } as World;
  beforeEach(async () => {
    world.stack = new AsyncDisposableStack();
    world.server = world.stack.use(await startScripted());
  });
  afterEach(() => world.stack.disposeAsync());
  return world;
}

export const request = (more: object = {}): ChatRequest =>
  readChatRequest({ model: 'ours', messages: [{ role: 'user', content: 'hi' }], ...more });

export const noUsage = (): UpstreamUsage => ({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 });

export function asking(more: Partial<AskDeps> = {}): AskDeps {
  return { seed: 1, usage: noUsage(), signal: new AbortController().signal, ...more };
}

/** The deltas as they arrive. */
export async function* reading(upstream: Upstream, deps: Partial<AskDeps> = {}): AsyncGenerator<ChatDelta> {
  for await (const deltas of upstream.chat(request(), asking(deps))) yield* deltas;
}

export const chat = async (upstream: Upstream, deps: Partial<AskDeps> = {}, more: object = {}): Promise<ChatDelta[]> =>
  (await Array.fromAsync(upstream.chat(request(more), asking(deps)))).flat();

export const textOf = (deltas: readonly ChatDelta[]): string =>
  deltas.map((each) => (each.kind === 'text' ? each.text : '')).join('');

/** The reason of the end, or the last delta if the answer did not end. */
export function endOf(deltas: readonly ChatDelta[]): unknown {
  const last = deltas.at(-1);
  return last?.kind === 'end' ? last.reason : last;
}

/** For comparing an error in `assert.rejects`. */
export const refusedAs = (kind: ErrorName, message = /./) => ({ name: 'CompletionError', kind, message });
export const failedAs = (code: EngineErrorCode, message = /./) => ({ name: 'EngineError', code, message });
