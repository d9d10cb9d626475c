// The models of the configuration, loaded or reached: an engine of this machine, another server, or both.
import { type Engine, openModel, openUpstream } from '@strata/engine';
import type { Logger } from 'pino';
import type { GatewayConfig } from '../config.ts';
import { Admission } from '../limits/admission.ts';
import type { Backend } from './backend.ts';
import { EngineBackend } from './engine-backend.ts';
import { Models, type ServedModel } from './models.ts';
import { UpstreamBackend } from './upstream-backend.ts';

export interface OpenedModels extends AsyncDisposable {
  readonly models: Models;
}

/** Rejects with EngineError or ModelStoreError, or with the signal's reason. `engines`: served as they are, and not disposed. */
export async function openModels(
  config: GatewayConfig,
  parts: {
    readonly logger: Logger;
    readonly now: () => Date;
    readonly engines: Readonly<Record<string, Engine>>;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<OpenedModels> {
  await using stack = new AsyncDisposableStack();
  const created = Math.floor(parts.now().getTime() / 1_000);
  const served: ServedModel[] = [];
  const serve = (id: string, backend: Backend) => {
    const admission = new Admission({ places: backend.facts.slots, queue: config.queue });
    served.push({ id, backend, created, admission });
  };
  for (const [id, engine] of Object.entries(parts.engines)) serve(id, new EngineBackend(engine));
  if (config.model !== undefined) {
    const { id, engine } = await openModel({ ...config, model: config.model, signal: parts.signal }, parts.logger);
    serve(id, new EngineBackend(stack.use(engine)));
  }
  if (config.upstream) {
    const { baseUrl, apiKey, models, places, contextLength } = config.upstream;
    for (const model of models) {
      const upstream = stack.use(
        await openUpstream(
          {
            ...{ baseUrl, model, places },
            ...(apiKey === undefined ? {} : { apiKey }),
            ...(contextLength === undefined ? {} : { contextLength }),
          },
          {
            onRetry: ({ detail, waitMs }) =>
              parts.logger.warn({ model, detail, waitMs }, 'the upstream is asked again'),
          },
        ),
      );
      const { engine, origin } = upstream.info;
      serve(model, new UpstreamBackend(upstream));
      parts.logger.info({ model, engine, origin, places }, 'upstream serves');
    }
  }
  const owned = stack.move();
  return { models: new Models(served), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
