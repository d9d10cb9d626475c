// A running gateway on the demo's model, its key, and plain requests to it.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import type { GatewayWorld } from '../app.ts';
import { type RunningGateway, readGatewayConfig, startGateway } from '../index.ts';

export const MODEL = 'strata-tiny-chat';

export interface Harness extends AsyncDisposable {
  readonly running: RunningGateway;
  readonly base: string;
  readonly key: string;
  /** Posts JSON, or text as it is. */
  post(target: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(target: string, headers?: Record<string, string>): Promise<Answer>;
  /** Posts JSON and gives the response as soon as its headers are there. */
  open(target: string, body: unknown, signal?: AbortSignal): Promise<Response>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where the answer is not JSON. */
  readonly body: Json;
  readonly text: string;
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
export type Json = any;

/** `world.engines` replace the model of the demo where `settings` name none: `STRATA_MODEL: ''`. */
export async function startHarness(settings: Record<string, string> = {}, world: GatewayWorld = {}): Promise<Harness> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await mkdtempDisposable(path.join(tmpdir(), 'strata-gateway-')));
  const config = readGatewayConfig({
    ...{ STRATA_DATA: directory.path, STRATA_INFERENCE_PORT: '0' },
    ...{ STRATA_MODEL: tinyChatModel, STRATA_MODEL_SLOTS: '2', ...settings },
  });
  const running = stack.use(await startGateway(config, createLogger({ level: 'silent' }), world));
  const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
  const base = `http://127.0.0.1:${running.port}`;
  const ask = async (target: string, init: RequestInit) => {
    const response = await fetch(base + target, init);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text };
  };
  const own = { authorization: `Bearer ${key}` };
  const posting = (body: unknown, headers: Record<string, string> = {}) => ({
    ...{ method: 'POST', headers: { ...own, 'content-type': 'application/json', ...headers } },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const owned = stack.move();
  return {
    ...{ running, base, key },
    post: (target, body, headers) => ask(target, posting(body, headers)),
    open: (target, body, signal) => fetch(base + target, { ...posting(body), ...(signal ? { signal } : {}) }),
    get: (target, headers = {}) => ask(target, { headers: { ...own, ...headers } }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
