// The composition root of the API: adds to scanning everything that the routes need, and updates from the store's logs.

import { StoreError } from '@strata/db';
import {
  AnswerCache,
  canSign,
  countedCache,
  createHostGuard,
  createSignedServer,
  Metrics,
  openApiDocument,
  Readiness,
  type Route,
  type SignedServer,
  witnessFacts,
} from '@strata/http';
import { KeyringError, LogError } from '@strata/log';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { OpenApi, StackApp, World } from '../context.ts';
import { configuredSources } from '../enrichment/sources.ts';
import { FailureLog } from '../failure-log.ts';
import { addMentionMetrics } from '../feeds/feed-metrics.ts';
import { forgetMentions, LiveMentions } from '../feeds/live-mentions.ts';
import { followStore } from '../index/follow-store.ts';
import { openKnowledge } from '../index/knowledge.ts';
import { type EventEffects, tags } from '../index/live-index.ts';
import { openLedger } from '../ledger/ledger.ts';
import { openWitnesses } from '../ledger/open-witnesses.ts';
import { domainTag } from '../routes/domains/domains.ts';
import examples from '../routes/examples.json' with { type: 'json' };
import { routes } from '../routes/index.ts';
import { servePages } from '../routes/pages.ts';
import { OnDemand } from '../scan/on-demand.ts';
import { openScanning } from '../scan/open-scanning.ts';
import type { ScannerDeps } from '../scan/scanner.ts';
import { StreamHub } from '../stream/stream-hub.ts';
import { apiInfo } from './api-info.ts';
import { openScheduler, type Scheduling } from './open-scheduler.ts';
import { addStackMetrics, countedGate, scanMeter, timedNotary } from './stack-metrics.ts';
import { UpdateLoop } from './update-loop.ts';

export interface StackService extends AsyncDisposable {
  readonly app: StackApp;
  readonly server: SignedServer;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly answers: AnswerCache;
  /** Set in the role `all`. */
  readonly scheduling: Scheduling | undefined;
  /** Applies changes by other processes until the signal aborts. */
  readonly follow: (signal: AbortSignal) => Promise<void>;
}

/** Whether a known domain uses a new provider. */
function hasNewProvider({ providers, shownBefore }: EventEffects): boolean {
  const before = new Set(shownBefore.map(({ provider }) => provider));
  return before.size > 0 && providers.some((provider) => !before.has(provider));
}

/** Constructs the API, and in the role `all` the scheduler; does not listen or scan. */
export async function createStack(config: Config, logger: Logger, world: World = {}): Promise<StackService> {
  await using stack = new AsyncDisposableStack();
  const answers = new AnswerCache(world.monotonicNow ? { now: world.monotonicNow } : {});
  const metrics = new Metrics();
  const ownScans = countedCache<number>(100_000);
  let updateLoop: UpdateLoop | undefined;
  const onRecorded: ScannerDeps['onRecorded'] = ({ domain, observedAt }) => {
    ownScans.set(domain, Date.parse(observedAt));
    answers.invalidate(domainTag(domain));
    updateLoop?.schedule();
  };
  const scanning = stack.use(await openScanning(config, { logger, onRecorded, onScanned: scanMeter(metrics) }, world));
  // Receipts use real time, even if the demo scans with another clock.
  const realNow = scanning.store.clock;
  const witnesses = stack.use(openWitnesses(config, world));
  const ledger = stack.use(
    await openLedger({
      ...{ dataDirectory: config.dataDirectory, origin: config.ledgerOrigin, now: realNow },
      ...{ store: scanning.store, witnesses },
    }),
  );
  const { store, prober, rulebook, scanner, isOptedOut, isDnsWorking } = scanning;
  const clock = world.now ?? realNow;
  /** Our own scans invalidate answers immediately; this handles scans by other processes. */
  const invalidateDomain = (domain: string, at: number) => {
    if (ownScans.get(domain) !== at) answers.invalidate(domainTag(domain));
  };
  let scheduling: Scheduling | undefined;
  const knowledge = stack.use(
    await openKnowledge(
      config,
      { store, rulebook, logger },
      {
        onEvent: ({ domain, at }, effects) => {
          for (const tag of effects.tags) answers.invalidate(tag);
          // After our own scan the index did not know the new products yet: answers about advisories are outdated again.
          if (hasNewProvider(effects)) answers.invalidate(domainTag(domain));
          else invalidateDomain(domain, at.getTime());
        },
        onRebuilt: () => answers.invalidateAll(),
        // A scan without changes has no event.
        onScans: (scans) => {
          for (const { domain, at } of scans) invalidateDomain(domain, at);
          answers.invalidate(tags.scans[0]);
        },
        onAdvisories: ({ products, entries }) => {
          for (const product of products) answers.invalidate(tags.advisoriesOf(product));
          if (entries.length + products.size > 0) answers.invalidate(tags.advisories[0]);
          scheduling?.scheduler.note(entries);
        },
        onLearned: () => {
          answers.invalidate(tags.enrichment[0]);
          answers.invalidate(tags.advisories[0]);
        },
      },
    ),
  );
  const { index, names, exposures } = knowledge;
  const hub = await StreamHub.open(store.stream, { onPublished: () => answers.invalidate(tags.stream[0]) });
  const mentions = stack.use(
    await LiveMentions.open({ store, logger, now: clock, onMentions: (named) => forgetMentions(answers, named) }),
  );
  if (config.role === 'all') {
    scheduling = stack.use(
      await openScheduler(
        config,
        {
          ...{ scanning, knowledge, notary: ledger.notary, logger, metrics, now: realNow },
          onAlert: () => answers.invalidate(tags.alerts[0]),
          onUpdate: () => updateLoop?.schedule(),
          onPolled: () => answers.invalidate(tags.polls[0]),
        },
        world,
      ),
    );
  }
  updateLoop = stack.use(
    new UpdateLoop({
      logger,
      steps: [
        ...knowledge.steps,
        ...(scheduling?.scheduler.steps ?? []),
        () => hub.catchUp(),
        () => mentions.catchUp(),
      ],
    }),
  );
  const app: StackApp = {
    config,
    exposures,
    sourceNames: configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs }).map(({ name }) => name),
    mentions,
    index,
    names,
    hub,
    updateLoop,
    clock,
    store,
    prober,
    rulebook,
    scanner,
    isOptedOut,
    isDnsWorking,
    ledger,
    onDemand: new OnDemand({
      perHour: config.onDemandPerHour,
      now: realNow,
      ...(world.onDemandWaitMs ? { waitMs: world.onDemandWaitMs } : {}),
    }),
    openApi: stackOpenApi(),
    now: realNow,
  };

  metrics.disk(config.dataDirectory);
  addStackMetrics(metrics, app, { cachedAnswers: () => answers.size });
  addMentionMetrics(metrics, mentions);
  const readiness = new Readiness({ database: () => store.heads(), ledger: () => canSign(ledger) });
  readiness.report(() => witnessFacts(ledger.witnesses()));
  let keyRevision = 0;
  const server = stack.use(
    createSignedServer({
      app,
      routes,
      notary: timedNotary(ledger.notary, metrics),
      keys: { ...countedGate(store, metrics), revision: () => keyRevision },
      answers,
      logger,
      metrics,
      now: realNow,
      trustedProxies: config.trustedProxies,
      limits: config.bounds,
      // Not bugs: a full disk; a damaged, locked or unreachable database; keys that another node retired.
      isUnavailable: (error) =>
        error instanceof StoreError || error instanceof LogError || error instanceof KeyringError,
      hostGuard: createHostGuard({ ...config, keyedPath: '/stack/v1/' }),
    }),
  );
  server.fastify.get('/ready', async (_request, reply) => {
    const { status, body } = await readiness.ready();
    return reply.code(status).header('cache-control', 'no-store').send(body);
  });
  await servePages(server.fastify, app, {
    exampleDomain: world.exampleDomain ?? (() => 'example.com'),
    chatUrl: config.chatUrl,
    isSimulated: world.isSimulated ?? false,
  });

  const update = updateLoop;
  const keys = new FailureLog(logger, { what: 'checking open streams for revoked keys' });
  /** Returns quickly if no key was revoked since the last success. */
  const endRevoked = () =>
    server.endRevokedStreams().then(
      () => keys.recovered(),
      (error: unknown) => keys.failed(error),
    );
  const owned = stack.move();
  return {
    app,
    server,
    metrics,
    readiness,
    answers,
    scheduling,
    follow: (signal) =>
      followStore(
        {
          ...{ store, logger },
          onChange: (differing, heads) => {
            keyRevision = heads.keys;
            void endRevoked();
            if (differing.has('alerts')) answers.invalidate(tags.alerts[0]);
            if (differing.has('feeds')) answers.invalidate(tags.polls[0]);
          },
          update: () => {
            // Retries after a failure.
            void endRevoked();
            return update.run();
          },
        },
        signal,
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

let openApi: OpenApi | undefined;

/** The OpenAPI document of the service, without starting it; created once. */
export function stackOpenApi(): OpenApi {
  openApi ??= openApiDocument(routes as readonly Route<StackApp>[], apiInfo, examples) as OpenApi;
  return openApi;
}
