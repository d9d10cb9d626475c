// Opens the configured models: a local engine, upstream servers, the data of the stack service.
import {
  type Engine,
  type ModelMemoryStats,
  openModels as openLocalModels,
  openUpstream,
  UpstreamPages,
} from '@strata/engine';
import type { Logger } from 'pino';
import type { GatewayConfig } from '../config.ts';
import { openAdmission } from '../limits/admission.ts';
import type { Backend } from './backend.ts';
import { DataBackend } from './data-backend.ts';
import { EngineBackend } from './engine-backend.ts';
import { DATA_MODEL, Models, type ServedModel } from './models.ts';
import { openRoutes, type Routes } from './targets/open-routes.ts';
import type { TargetEvent } from './targets/routed-backend.ts';
import { UpstreamBackend } from './upstream-backend.ts';

export interface OpenedModels extends AsyncDisposable {
  readonly models: Models;
  /** Paths of the model files of local engines, by SHA-256. */
  readonly files: ReadonlyMap<string, string>;
  /** Undefined if the local models share no memory budget. */
  readonly memory: (() => ModelMemoryStats) | undefined;
  /** What answers the aliases and the models of named upstreams. */
  readonly targets: Routes['targets'];
}

/**
 * Rejects with EngineError or ModelStoreError, or with the signal's reason. `engines` are served as given, and not
 * disposed.
 */
export async function openModels(
  config: GatewayConfig,
  deps: {
    readonly logger: Logger;
    readonly now: () => Date;
    readonly engines: Readonly<Record<string, Engine>>;
    readonly signal?: AbortSignal | undefined;
    readonly onTarget: (event: TargetEvent) => void;
  },
): Promise<OpenedModels> {
  await using stack = new AsyncDisposableStack();
  const created = Math.floor(deps.now().getTime() / 1_000);
  const served: ServedModel[] = [];
  const files = new Map<string, string>();
  const serve = (id: string, backend: Backend) => {
    const admission = openAdmission({ slots: backend.facts.slots, queue: config.queue });
    served.push({ id, backend, created, admission });
  };
  for (const [id, engine] of Object.entries(deps.engines)) serve(id, new EngineBackend(engine));
  const local = stack.use(await openLocalModels({ ...config, signal: deps.signal }, deps.logger));
  for (const { id, file, engine } of local.models) {
    serve(id, new EngineBackend(engine));
    files.set(engine.info.sha256, file);
  }
  if (config.upstream) {
    const { baseUrl, apiKey, models, slots, contextLength } = config.upstream;
    const pages = new UpstreamPages();
    for (const model of models) {
      const upstream = stack.use(
        await openUpstream(
          {
            ...{ baseUrl, model, slots },
            ...(apiKey === undefined ? {} : { apiKey }),
            ...(contextLength === undefined ? {} : { contextLength }),
          },
          {
            ...{ signal: deps.signal, pages },
            onRetry: ({ detail, waitMs }) =>
              deps.logger.warn({ model, detail, waitMs }, 'retrying the upstream request'),
          },
        ),
      );
      const { engine, origin } = upstream.info;
      serve(model, new UpstreamBackend(upstream));
      deps.logger.info({ model, engine, origin, slots }, 'upstream model is served');
    }
  }
  const { explorerUrl: baseUrl, explorerKey: key } = config;
  if (key !== undefined && baseUrl === undefined)
    deps.logger.warn('STRATA_EXPLORER_KEY has no effect without STRATA_EXPLORER_URL');
  else if (key !== undefined && baseUrl !== undefined) serve(DATA_MODEL, new DataBackend({ baseUrl, key }));
  // An alias with the name of a configured model replaces it.
  const aliases = new Set(config.upstreams.aliases.map(({ id }) => id));
  const models = new Models(
    served.filter(({ id }) => !aliases.has(id)),
    { pinned: config.network?.pins.keys() ?? [] },
  );
  const routes = stack.use(
    await openRoutes(config.upstreams, {
      own: new Map(served.map((model) => [model.id, model])),
      find: (id) => models.get(id),
      ...{ nowMs: () => performance.now(), random: Math.random },
      ...{ onEvent: deps.onTarget, logger: deps.logger, signal: deps.signal },
    }),
  );
  for (const { id, backend } of routes.list)
    models.add({ id, backend, created, admission: openAdmission({ slots: backend.facts.slots, queue: config.queue }) });
  const owned = stack.move();
  const { memory } = local;
  return { models, files, memory, targets: routes.targets, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
