// Constructs the service: on top of what a scan needs, everything that the routes know.
import path from 'node:path';
import type { DomainIndex } from '@strata/analytics';
import { AnswerCache, createHttpServer, type HttpServer, Metrics, openApiDocument, type Route } from '@strata/http';
import { LogError } from '@strata/log';
import type { Fetcher, Target } from '@strata/scan';
import { StoreError } from '@strata/store';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { apiInfo } from './api-info.ts';
import type { Config } from './config.ts';
import { Exposures } from './enrichment/exposures.ts';
import type { AdvisorySource } from './enrichment/source.ts';
import { configuredSources } from './enrichment/sources.ts';
import { tellAdvisories } from './enrichment/tellings.ts';
import { addFeedMetrics } from './feeds/feed-metrics.ts';
import { forgetMentions, LiveMentions } from './feeds/live-mentions.ts';
import { openPoller } from './feeds/open-poller.ts';
import type { FeedPoller } from './feeds/poller.ts';
import { type KnownNames, knownNames } from './known-names.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { LiveIndex, type TakenEvent, tags } from './live-index.ts';
import { OnDemand } from './on-demand.ts';
import { openFetcher } from './open-fetcher.ts';
import { openScanning, type Scanning } from './open-scanning.ts';
import { servePages } from './pages.ts';
import { Pulse } from './pulse.ts';
import { domainTag } from './routes/domains.ts';
import examples from './routes/examples.json' with { type: 'json' };
import { routes } from './routes/index.ts';
import type { ScannerParts } from './scanner.ts';
import { StreamHub } from './stream-hub.ts';
import { StreamPublisher } from './stream-publisher.ts';
import { Watch } from './watch.ts';

/** What a test or the demo puts in place of the world. */
export interface World {
  readonly now?: () => Date;
  /** Where a checked address is really dialled. */
  readonly dial?: (target: Target) => Target;
  readonly trustedCa?: readonly string[];
  /** Shorter waits where everything is near; the real internet needs the defaults. */
  readonly dnsTryTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly onDemandWaitMs?: number;
  /** In place of the one that asks the web; closed with the service. */
  readonly fetcher?: Fetcher;
  /** A domain of that world, for the explorer's first page; asked each time, since another may have more to show later. */
  readonly exampleDomain?: () => string;
  /** The domains are invented, and the pages say so. */
  readonly isSimulated?: boolean;
  /** Between two requests to NVD, where its publisher is simulated. */
  readonly nvdGapMs?: number;
  /** Provider entries in place of the bundled ones. */
  readonly catalogEntries?: readonly unknown[];
}

/** What the routes know. */
export interface StackApp extends Omit<Scanning, typeof Symbol.asyncDispose> {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly onDemand: OnDemand;
  readonly openApi: ReturnType<typeof stackOpenApi>;
  readonly index: DomainIndex;
  readonly names: KnownNames;
  readonly exposures: Exposures;
  /** Asks the web for documents: feeds, and what publishers of advisories say. */
  readonly fetcher: Fetcher;
  readonly sources: readonly AdvisorySource[];
  readonly sourceNames: readonly string[];
  readonly hub: StreamHub;
  /** Takes in what was recorded, judges it and tells it; runs by itself after each scan. */
  readonly pulse: Pulse;
  readonly mentions: LiveMentions;
  readonly poller: FeedPoller;
  /** Of receipts and quotas. */
  readonly now: () => Date;
  /** That history goes by: in the demo another one than `now`. */
  readonly clock: () => Date;
}

export interface StackService extends AsyncDisposable {
  readonly app: StackApp;
  readonly server: HttpServer;
  readonly metrics: Metrics;
  readonly answers: AnswerCache;
}

/** Whether a domain that was known has come to use another provider. */
function bringsProvider({ providers, shownBefore }: TakenEvent): boolean {
  const before = new Set(shownBefore.map(({ provider }) => provider));
  return before.size > 0 && providers.some((provider) => !before.has(provider));
}

/** Builds the whole service; nothing listens and nothing scans yet. */
export async function createStack(config: Config, logger: Logger, world: World = {}): Promise<StackService> {
  await using stack = new AsyncDisposableStack();
  const answers = new AnswerCache();
  const ownScans = new LRUCache<string, number>({ max: 100_000 });
  let pulse: Pulse | undefined;
  const onRecorded: ScannerParts['onRecorded'] = ({ domain, observedAt }) => {
    ownScans.set(domain, Date.parse(observedAt));
    answers.invalidate(domainTag(domain));
    pulse?.soon();
  };
  const scanning = stack.use(await openScanning(config, { logger, onRecorded }, world));
  // Receipts tell real time even where the demo scans in another.
  const realNow = () => new Date();
  const ledger = stack.use(
    await openLedger({ dataDirectory: config.dataDirectory, origin: config.ledgerOrigin, now: realNow }),
  );
  const { store, prober, rulebook, scanner, isOptedOut, isDnsWorking } = scanning;
  const clock = world.now ?? realNow;
  const names = knownNames(rulebook);
  let following: Exposures | undefined;
  const live = stack.use(
    await LiveIndex.open({
      store,
      file: path.join(config.dataDirectory, 'index.snapshot'),
      logger,
      onEvent: ({ domain, at }, taken) => {
        following?.touch(taken.providers);
        following?.addBuilds(taken.newBuilds);
        for (const tag of taken.tags) answers.invalidate(tag);
        // What answers say of the domain is stale, unless the scan was our own and told at once: what was told
        // since did not know yet of which new products the advisories concern it.
        if (ownScans.get(domain) !== at.getTime() || bringsProvider(taken)) answers.invalidate(domainTag(domain));
      },
      onScans: () => answers.invalidate(tags.scans[0]),
    }),
  );
  const { index } = live;
  const exposures = stack.use(await Exposures.open({ store, index, rulebook }));
  following = exposures;
  const onAlert = () => answers.invalidate(tags.alerts[0]);
  const followAdvisories = async () => {
    if (await exposures.learn()) answers.invalidate(tags.enrichment[0]);
    await exposures.follow(async ({ products, entries }) => {
      await tellAdvisories(entries, { store, index, exposures, names, now: clock, onAlert });
      for (const product of products) answers.invalidate(tags.advisoriesOf(product));
      if (entries.length + products.size > 0) answers.invalidate(tags.advisories[0]);
    });
  };
  const hub = await StreamHub.open(store.stream);
  const watch = await Watch.open({ store, index, names, exposures, now: clock, onAlert });
  const publisher = await StreamPublisher.open({
    store,
    notary: ledger.notary,
    names,
    exposures,
    now: realNow,
    keepMs: config.streamDays * 86_400_000,
    onTold: (events) => {
      answers.invalidate(tags.stream[0]);
      hub.tell(events);
    },
  });
  const mentions = stack.use(
    await LiveMentions.open({
      store,
      logger,
      now: clock,
      onMentions: (named) => forgetMentions(answers, named),
    }),
  );
  // What the watch finds stands in the log before the stream is told, and in the index with the next beat.
  pulse = stack.use(
    new Pulse({
      logger,
      steps: [
        () => live.catchUp(),
        followAdvisories,
        () => watch.look(),
        () => live.catchUp(),
        () => publisher.publish(),
        () => publisher.forget(),
        () => mentions.catchUp(),
      ],
    }),
  );
  const fetcher = stack.use(world.fetcher ?? openFetcher(config, world));
  const sources = configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs });
  const poller = openPoller(config, {
    store,
    isOptedOut,
    logger,
    now: clock,
    fetcher,
    onRecorded: ({ mentions: found }) => {
      answers.invalidate(tags.polls[0]);
      if (found > 0) pulse?.soon();
    },
  });
  const app: StackApp = {
    config,
    fetcher,
    exposures,
    sources,
    sourceNames: sources.map(({ name }) => name),
    mentions,
    poller,
    index,
    names,
    hub,
    pulse,
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

  const metrics = new Metrics();
  metrics.gauge('strata_ledger_leaves', 'Receipts in the ledger', () => ledger.log.size);
  metrics.gauge('strata_dns_questions', 'DNS questions asked, cached ones included', () => prober.stats().questions);
  metrics.gauge('strata_dns_timeouts', 'DNS tries without an answer', () => prober.stats().timeouts);
  metrics.gauge('strata_index_domains', 'Domains in the index', () => index.size);
  metrics.gauge('strata_stream_subscribers', 'Live subscribers of the event stream', () => hub.subscribers);
  metrics.gauge('strata_advisories', 'Advisories of products that are looked for', () => exposures.advisories.size);
  metrics.gauge('strata_answers_cached', 'Answers held ready', () => answers.size);
  addFeedMetrics(metrics, { poller, mentions });
  const server = stack.use(
    createHttpServer({
      app,
      routes,
      notary: ledger.notary,
      keys: {
        find: (presented) => store.keys.find(presented),
        take: (keyId, day, limit) => store.quota.take(keyId, day, limit),
      },
      answers,
      logger,
      metrics,
      trustedProxies: config.trustedProxies,
      // Neither is a bug: a disk that is full, a database that is damaged, locked or gone.
      isTrouble: (error) => error instanceof StoreError || error instanceof LogError,
    }),
  );
  await servePages(server.fastify, app, {
    exampleDomain: world.exampleDomain ?? (() => 'example.com'),
    chatUrl: config.chatUrl,
    isSimulated: world.isSimulated ?? false,
  });

  const owned = stack.move();
  return { app, server, metrics, answers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The OpenAPI document of the service, without starting anything. */
export function stackOpenApi() {
  return openApiDocument(routes as readonly Route<StackApp>[], apiInfo, examples) as Record<string, unknown> & {
    openapi: string;
  };
}
