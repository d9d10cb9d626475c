// A running gateway on the model of the demo, with a key, and plain requests to it.
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import type { GatewayWorld } from '../app.ts';
import { readGatewayConfig, startGateway } from '../index.ts';

export const MODEL = 'strata-tiny-chat';

export type Harness = Awaited<ReturnType<typeof startHarness>>;
/** `body` is undefined if it is not JSON. */
export type Answer = Awaited<ReturnType<Harness['get']>>;
// biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies whose shape is under test
export type Json = any;

/** `world.engines` replace the model of the demo if `settings` name none: `STRATA_MODEL: ''`. */
export async function startHarness(settings: Record<string, string> = {}, world: GatewayWorld = {}) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const config = readGatewayConfig({
    ...{ STRATA_DATA: directory.path, STRATA_INFERENCE_PORT: '0' },
    ...{ STRATA_MODEL: tinyChatModel, STRATA_MODEL_OPTIONS: 'slots=2', ...settings },
  });
  const running = stack.use(await startGateway(config, createLogger({ level: 'silent' }), world));
  const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
  const base = `http://127.0.0.1:${running.port}`;
  const ask = async (target: string, init: RequestInit) => {
    const response = await fetch(base + target, init);
    const text = await response.text();
    const { status, headers } = response;
    const body: Json = /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : undefined;
    return { status, headers, body, text };
  };
  const own = { authorization: `Bearer ${key}` };
  const posting = (body: unknown, headers: Record<string, string> = {}) => ({
    ...{ method: 'POST', headers: { ...own, 'content-type': 'application/json', ...headers } },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return Object.assign(stack.move(), {
    ...{ running, base, key },
    /** Posts JSON, or text unchanged. */
    post: (target: string, body: unknown, headers?: Record<string, string>) => ask(target, posting(body, headers)),
    /** Posts JSON and returns the response as soon as its headers have arrived. */
    open: (
      target: string,
      body: unknown,
      { signal = null, ...by }: { signal?: AbortSignal | null; key?: string } = {},
    ) => fetch(base + target, { ...posting(body, { authorization: `Bearer ${by.key ?? key}` }), signal }),
    get: (target: string, headers: Record<string, string> = {}) => ask(target, { headers: { ...own, ...headers } }),
  });
}
