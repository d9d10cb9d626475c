// The only place that constructs things: engine, keys, server.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Engine, startLlamaEngine } from '@strata/engine';
import { openStore, type Store } from '@strata/store';
import type { Logger } from 'pino';
import { Admission } from './admission.ts';
import { Callers } from './callers.ts';
import type { GatewayConfig } from './config.ts';
import { Models, type ServedModel } from './models.ts';
import { addRoutes } from './routes.ts';
import { createServer, type GatewayServer } from './server.ts';

export interface Gateway extends AsyncDisposable {
  readonly server: GatewayServer;
  readonly models: Models;
  readonly keys: Store['keys'];
  readonly admission: Admission;
}

/** For tests and benches: another engine than the configured one, another clock. */
export interface GatewayWorld {
  readonly engines?: Readonly<Record<string, Engine>>;
  readonly now?: () => Date;
}

/** The keys of the inference service; apart from the stack's, so that the two can run on different machines. */
export async function openGatewayKeys({ dataDirectory }: Pick<GatewayConfig, 'dataDirectory'>): Promise<Store> {
  await mkdir(dataDirectory, { recursive: true });
  return openStore(`sqlite:${path.join(dataDirectory, 'inference.db')}`, { keyPrefix: 'sk-' });
}

/** Builds the service; nothing listens yet. Rejects with EngineError when the model cannot be loaded. */
export async function createGateway(config: GatewayConfig, logger: Logger, world: GatewayWorld = {}): Promise<Gateway> {
  await using stack = new AsyncDisposableStack();
  const now = world.now ?? (() => new Date());
  const store = stack.use(await openGatewayKeys(config));
  const served: ServedModel[] = [];
  const created = Math.floor(now().getTime() / 1_000);
  for (const [id, engine] of Object.entries(world.engines ?? {})) served.push({ id, engine, created });
  if (config.modelFile !== undefined) {
    const startedAt = performance.now();
    const engine = stack.use(
      await startLlamaEngine(
        {
          file: config.modelFile,
          slots: config.slots,
          threads: config.threads,
          gpu: config.gpu,
          ...(config.contextLength === undefined ? {} : { contextLength: config.contextLength }),
        },
        {
          onRestart: ({ kind, detail }) => {
            if (kind === 'died') logger.error({ detail }, 'the engine died and is started again');
            else logger.info({ detail }, 'the engine serves again');
          },
        },
      ),
    );
    const id = path.basename(config.modelFile, '.gguf');
    served.push({ id, engine, created });
    const { sha256, contextLength, slots } = engine.info;
    logger.info(
      { model: id, sha256, contextLength, slots, ms: Math.round(performance.now() - startedAt) },
      'model loaded',
    );
  }
  const models = new Models(served);
  const slots = served.reduce((sum, { engine }) => sum + engine.info.slots, 0);
  const server = stack.use(createServer({ callers: new Callers(store, now), logger }));
  const admission = new Admission({ places: slots, queue: config.queue });
  addRoutes(server.fastify, { models, admission, logger, now });
  const owned = stack.move();
  return { server, models, admission, keys: store.keys, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
