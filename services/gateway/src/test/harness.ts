// A running gateway on the demo's model, its key, and plain requests to it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { type RunningGateway, readGatewayConfig, startGateway } from '../index.ts';

export const MODEL = 'strata-tiny-chat';

export interface Harness extends AsyncDisposable {
  readonly running: RunningGateway;
  readonly base: string;
  readonly key: string;
  /** Posts JSON, or text as it is. */
  post(
    target: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: Json; text: string }>;
  get(
    target: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: Json; text: string }>;
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
export type Json = any;

export async function startHarness(settings: Record<string, string> = {}): Promise<Harness> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-gateway-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const config = readGatewayConfig({
    STRATA_DATA: directory,
    STRATA_INFERENCE_PORT: '0',
    STRATA_MODEL: tinyChatModel,
    STRATA_MODEL_SLOTS: '2',
    ...settings,
  });
  const running = stack.use(await startGateway(config, createLogger({ level: 'silent' })));
  const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
  const base = `http://127.0.0.1:${running.port}`;
  const ask = async (target: string, init: RequestInit) => {
    const response = await fetch(base + target, init);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text };
  };
  const own = { authorization: `Bearer ${key}` };
  const owned = stack.move();
  return {
    running,
    base,
    key,
    post: (target, body, headers = {}) =>
      ask(target, {
        method: 'POST',
        headers: { ...own, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (target, headers = {}) => ask(target, { headers: { ...own, ...headers } }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
