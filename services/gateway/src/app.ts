// The composition root of the gateway: creates every object, in order; disposed in reverse.
import { type Engine, isAuditable } from '@strata/engine';
import { makeDirectory } from '@strata/files';
import { canSign, createHostGuard, type HttpServer, Metrics, Readiness, StartError, witnessFacts } from '@strata/http';
import {
  checkpointOf,
  importLedger,
  isLedgerDirectory,
  ledgerIn,
  openSignedLedger,
  type SignedLedger,
  type SignedLedgerOptions,
} from '@strata/log';
import { peerNodeOptions } from '@strata/p2p';
import type { Logger } from 'pino';
import { EngineBackend } from './answers/engine-backend.ts';
import { DATA_MODEL, type Models } from './answers/models.ts';
import { openModels } from './answers/open-models.ts';
import { AnswerRecorder } from './answers/receipts/answer-recorder.ts';
import { StoredAnswers } from './answers/stored/stored-answers.ts';
import { planAgain } from './answers/stored/stored-request.ts';
import { targetMeter, targetStates } from './answers/targets/target-meter.ts';
import { type GatewayConfig, inferenceDirectory } from './config.ts';
import { addGatewayMetrics, answerMeter } from './gateway-metrics.ts';
import { stopping } from './limits/admission.ts';
import { Authentication, followChanges } from './limits/authentication.ts';
import { budgetWarnings } from './limits/budget-warnings.ts';
import { Budgets } from './limits/budgets.ts';
import { Limits } from './limits/limits.ts';
import { SharedMinuteLimiter } from './limits/minute-limiter.ts';
import { TokenQuota } from './limits/token-quota.ts';
import { type GatewayNetwork, type GatewayNetworkDeps, openGatewayNetwork } from './network/gateway-network.ts';
import type { OpenVocabulary } from './network/vocabulary/vocabularies.ts';
import { asRefusal } from './routes/error-response.ts';
import { newKeyRequests } from './routes/keys.ts';
import { cachedReport } from './routes/network.ts';
import { gatewayOpenApi } from './routes/openapi.ts';
import { servePages } from './routes/pages.ts';
import { KEY_SET_PATH } from './routes/receipts.ts';
import type { GatewayApp } from './routes/route.ts';
import { createGatewayServer } from './routes/server.ts';
import { RecentItems } from './routes/v1/recent-items.ts';
import { networkStartError } from './start-error.ts';
import { type GatewayStore, openStore } from './store/index.ts';
import { GatewayMembership } from './store/membership.ts';
import type { MinuteLimit } from './store/minute-usage.ts';
import { openWitnesses } from './store/open-witnesses.ts';

export interface Gateway extends AsyncDisposable {
  readonly server: HttpServer;
  readonly models: Models;
  readonly keys: GatewayStore['keys'];
  readonly answers: GatewayStore['answers'];
  readonly audit: GatewayStore['audit'];
  readonly segments: GatewayStore['segments'];
  readonly recorder: AnswerRecorder;
  readonly membership: GatewayMembership;
  readonly ledger: SignedLedger;
  /** Undefined: only the models of the settings are served. */
  readonly network: GatewayNetwork | undefined;
  readonly monitoring: Monitoring;
  /** The database's clock: one gateway with a wrong clock must not delete what all have stored. */
  readonly now: () => Date;
}

/** The monitoring interfaces of the service. */
export interface Monitoring {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

export const newMonitoring = (): Monitoring => ({ metrics: new Metrics(), readiness: new Readiness() });

/** Overrides for tests and benchmarks: other engines than the configured ones, another clock. */
export interface GatewayWorld {
  readonly engines?: Readonly<Record<string, Engine>>;
  readonly now?: () => Date;
  readonly openVocabulary?: OpenVocabulary;
  /** How long to wait for answers in progress when the gateway stops. */
  readonly shutdownMs?: number;
  /** How long to wait for another gateway's lock on a database that cannot be shared. */
  readonly lockTimeoutMs?: number;
  /** Aborts the start, and stops everything that was started before. */
  readonly signal?: AbortSignal;
}

/** The settings of the inference database. */
export type GatewayStoreConfig = Pick<GatewayConfig, 'dataDirectory' | 'databaseUrl' | 'databaseConnections'>;

/**
 * Opens the inference database, and creates it if it does not exist. It is separate from the database of the stack
 * service, so that the two can run on different machines.
 */
export async function openGatewayStore(config: GatewayStoreConfig): Promise<GatewayStore> {
  await makeDirectory(config.dataDirectory, { mode: 0o700 });
  return openStore(config.databaseUrl, { poolSize: config.databaseConnections });
}

/**
 * Builds the service without listening. Rejects with StartError if another gateway uses the SQLite file or has its ledger, with
 * EngineError or ModelStoreError if a model cannot be loaded, or with the signal's reason.
 */
export async function createGateway(
  config: GatewayConfig,
  logger: Logger,
  world: GatewayWorld = {},
  monitoring: Monitoring = newMonitoring(),
): Promise<Gateway> {
  const { metrics, readiness } = monitoring;
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openGatewayStore(config));
  const now = world.now ?? store.now;
  readiness.watch('database', () => store.revocations());
  const { lockTimeoutMs, signal } = world;
  const membership = stack.use(await GatewayMembership.join({ store, logger, signal, lockTimeoutMs }));
  const targetMetrics = targetMeter(metrics);
  const { models, files, memory, targets } = stack.use(
    await openModels(config, {
      ...{ logger, now, engines: world.engines ?? {}, signal: world.signal },
      onTarget: targetMetrics.onEvent,
    }),
  );
  targetMetrics.watch(targets);
  if (targets.length > 0) readiness.report(() => ({ upstreams: targetStates(targets, performance.now()) }));
  world.signal?.throwIfAborted();
  const own = models.list().filter(({ id }) => id !== DATA_MODEL);
  const witnesses = stack.use(openWitnesses(config));
  const ledger = stack.use(await openLedger(config, { store, now, witnesses, logger, signal }));
  readiness.watch('ledger', () => canSign(ledger));
  readiness.report(() => witnessFacts(ledger.witnesses()));
  const { segments } = store;
  const gateway = membership.id;
  const answers = store.answersOf(gateway);
  const onAnswer = answerMeter(metrics);
  const recorder = stack.use(new AnswerRecorder({ ledger, answers, gateway, segments, logger, now, onAnswer }));
  const settle = (ended: number) => recorder.settle(ended);
  await membership.settleEnded(settle);
  const closed = new AbortController();
  const settling = membership.follow(settle, closed.signal);
  stack.defer(async () => {
    closed.abort();
    await settling;
  });
  const { openVocabulary } = world;
  const network = stack.use(
    await openNetwork(config, {
      models,
      files,
      ...{ store, gateway },
      logger,
      now,
      openVocabulary,
    }),
  );
  // Disposed after the server and before the network and the recorder: interrupted answers get a receipt too.
  const running = new Set<Promise<unknown>>();
  stack.defer(async () => void (await Promise.allSettled(running)));
  const tokens = stack.use(new TokenQuota({ reservations: store.tokens, gateway }));
  const onWarning = budgetWarnings({ audit: store.audit, metrics, logger, running });
  const budgets = new Budgets({ tokens, teams: store.teams, now, onWarning });
  await budgets.refresh();
  const { minutes: usage } = store;
  const minutes = usage && ((of: MinuteLimit) => stack.use(new SharedMinuteLimiter(usage, of)));
  const limits = new Limits({ quota: store.quota, tokens, budgets, minutes, now });
  const late = new AbortController();
  const hostGuard = createHostGuard({ ...config, keyedPath: '/v1/' });
  const authentication = new Authentication(store, { areKeysFree: config.freeKeysPerDay > 0, now: store.now });
  const unwatched = new AbortController();
  /** Applies what was changed here or elsewhere: revocations, policies and prices. */
  const applyChanges = async () => {
    await authentication.endRevoked();
    await budgets.refresh();
  };
  const following = followChanges({ store, applyChanges, logger }, unwatched.signal);
  // Stops after the server: until then a revocation ends open requests.
  stack.defer(async () => {
    unwatched.abort();
    await following;
  });
  const storedAnswers = stack.use(
    new StoredAnswers({
      ...{ stored: store.stored, gateway, recorder, limits, logger, now, running, stopping: late.signal },
      planned: (request) => planAgain(models, request),
      watch: (keyId) => authentication.watch(keyId),
      errorOf: asRefusal,
    }),
  );
  let description: object | undefined;
  const app: GatewayApp = {
    ...{ models, ownModels: own, recorder, limits, ledger, logger, now, running, stopping: late.signal },
    ...{
      keys: store.keys,
      admin: adminOf(store, applyChanges),
      keyRequests: newKeyRequests(now),
      freeKeysPerDay: config.freeKeysPerDay,
      hostGuard,
    },
    recentItems: new RecentItems(),
    storedAnswers,
    ...{ readiness, networkReport: network && cachedReport(network.report) },
    openApi: () => {
      description ??= gatewayOpenApi();
      return description;
    },
  };
  const server = stack.use(
    createGatewayServer({
      ...{ app, authentication, hostGuard, logger, metrics },
      limits: config.limits,
      trustedProxies: config.trustedProxies,
      onStopping: () => {
        storedAnswers.stop();
        for (const { admission } of models.list()) admission.close(stopping());
      },
      onLate: () => late.abort(stopping()),
      shutdownMs: world.shutdownMs,
    }),
  );
  metrics.disk(config.dataDirectory);
  addGatewayMetrics(metrics, { models, memory, ledger, network });
  await servePages(server.fastify, config);
  const owned = stack.move();
  return {
    server,
    models,
    recorder,
    membership,
    ledger,
    network,
    monitoring,
    now,
    keys: store.keys,
    audit: store.audit,
    answers,
    segments,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const adminOf = (
  { keys, teams, audit, usage }: GatewayStore,
  applyChanges: GatewayApp['admin']['applyChanges'],
): GatewayApp['admin'] => ({ keys, teams, audit, usage, applyChanges });

/**
 * The ledger of all gateways of a PostgreSQL database, or that of the data directory. The log of a gateway that had the
 * database alone moves there from its directory; until then no other gateway starts.
 */
async function openLedger(
  config: GatewayConfig,
  {
    store,
    ...options
  }: Pick<SignedLedgerOptions, 'now' | 'witnesses' | 'logger' | 'signal'> & {
    readonly store: Pick<GatewayStore, 'ledger' | 'ledgerCheckpoint'>;
  },
): Promise<SignedLedger> {
  const checkpointCopy = store.ledgerCheckpoint(config.ledgerOrigin);
  const log = {
    ...options,
    ...{ directory: inferenceDirectory(config), origin: config.ledgerOrigin, checkpointCopy },
  };
  if (store.ledger && isLedgerDirectory(ledgerIn(log.directory))) {
    const { size } = await importLedger({ ...log, to: store.ledger.log });
    options.logger?.info({ leaves: size }, 'the ledger has moved to the database');
  } else if (store.ledger && !(await store.ledger.log.head())) {
    // Receipts of a new ledger here would keep the earlier one from moving.
    const earlier = await checkpointCopy.read();
    if (earlier !== undefined && checkpointOf(earlier).size > 0) throw new StartError(NOT_MOVED);
  }
  return openSignedLedger({ ...log, keySetPath: KEY_SET_PATH, shared: store.ledger });
}

const NOT_MOVED =
  'the ledger of this database is still in the data directory of an earlier gateway: start the gateway with that STRATA_DATA first, once, which moves the ledger to the database; then give this one a copy of its inference/keys';

/** Rejects with StartError if the network node cannot be started: its key, its addresses, the peers to join. */
async function openNetwork(
  config: GatewayConfig,
  deps: Omit<GatewayNetworkDeps, 'engines'>,
): Promise<GatewayNetwork | undefined> {
  if (config.network === undefined) return undefined;
  const own = isAuditable(config.attention) ? deps.models.list() : [];
  const engines = own.flatMap(({ backend }) => (backend instanceof EngineBackend ? backend.engine : []));
  const directory = inferenceDirectory(config);
  try {
    const peer = {
      ...(await peerNodeOptions(config.network.peer)),
      // Otherwise the operator could not find out which id to allow.
      onRefused: (refused: string) =>
        deps.logger.warn({ peer: refused }, 'a peer was refused: the item `allow` of STRATA_P2P does not name it'),
    };
    return await openGatewayNetwork({ ...config.network, peer, directory, queue: config.queue }, { ...deps, engines });
  } catch (cause) {
    throw networkStartError(cause as Error, config.network.peer.listen);
  }
}
