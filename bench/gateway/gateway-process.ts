// A gateway for the bench: over an engine that answers at once, a model's file, or an upstream server.
import type { Engine, JobEvent } from '@strata/engine';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { childArgument, reportReady, reportUse } from '../measure.ts';

export interface GatewayOptions {
  readonly slots: number;
  /** A model's file; without it, the instant engine. */
  readonly model?: string;
  /** Origin of an upstream server with the model `instant`. */
  readonly upstream?: string;
  /** Further settings, by variable; a model among them replaces the instant engine. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface ReadyGateway {
  readonly base: string;
  readonly key: string;
  readonly model: string;
  readonly processes: number;
}

const { slots, model: file, upstream, settings } = childArgument<GatewayOptions>();
const processes = Math.min(slots, 2);
const stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const config = readGatewayConfig({
  STRATA_DATA: directory.path,
  STRATA_INFERENCE_PORT: '0',
  STRATA_MODEL_OPTIONS: `slots=${slots},processes=${processes},threads=${file ? '1' : ''}`,
  STRATA_QUEUE: '2000',
  ...(upstream
    ? {
        STRATA_UPSTREAM: `${upstream}/v1`,
        STRATA_UPSTREAM_MODELS: 'instant',
        STRATA_UPSTREAM_OPTIONS: `slots=${slots}`,
      }
    : {}),
  ...(file ? { STRATA_MODEL: file } : {}),
  ...settings,
});
const engines = file || upstream || settings ? {} : { engines: { instant: instant() } };
const running = stack.use(await startGateway(config, createLogger({ level: 'error' }), engines));
const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
reportUse();
const model = running.gateway.models.list()[0]?.id ?? '';
const ready: ReadyGateway = { base: `http://127.0.0.1:${running.port}`, key, model, processes };
reportReady(ready, () => stack.disposeAsync());

/** Sixteen tokens at once; for `slow` it never continues after the first. */
function instant(): Engine {
  const tokens = Array.from({ length: 16 }, (_, i) => ({
    kind: 'token' as const,
    token: i,
    bytes: Buffer.from(` word${i}`),
    logprob: -0.1,
  }));
  return {
    info: {
      name: 'instant',
      sha256: '0'.repeat(64),
      sizeBytes: 0,
      architecture: 'none',
      parameters: 0,
      quantisation: 'none',
      contextLength: 8_192,
      vocabularySize: 1_024,
      longestToken: 16,
      slots: 2_000,
      hasChatTemplate: true,
      engine: 'instant',
    },
    isReady: true,
    tokenize: async (text) => [text.length],
    detokenize: async () => '',
    marks: async () => ({ template: '', controls: new Map() }),
    score: async () => [],
    render: async ({ messages }) => messages.map(({ content }) => content?.length ?? 0),
    async *generate(job, signal): AsyncGenerator<JobEvent> {
      yield { kind: 'begin', cachedTokens: 0 };
      for (const token of tokens) {
        yield token;
        // Clients that stay connected ask for one token.
        if (job.maxTokens === 1)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      yield { kind: 'end', reason: 'stop' };
    },
    embed: async () => new Float32Array(8),
    [Symbol.asyncDispose]: async () => {},
  };
}
