// The role `scheduler`: maintains the index, and runs the scheduler or is on standby. It serves only metrics and readiness.
import { canSign, Metrics, Readiness } from '@strata/http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { RunningRole, World } from '../context.ts';
import { followStore } from '../index/follow-store.ts';
import { openKnowledge } from '../index/knowledge.ts';
import { followKeys } from '../ledger/follow-keys.ts';
import { openLedger } from '../ledger/ledger.ts';
import { openScanning } from '../scan/open-scanning.ts';
import { listenForMetrics } from './listening.ts';
import { openScheduler } from './open-scheduler.ts';
import type { Scheduler } from './scheduler.ts';
import { addLedgerRefusal, addStoreMetrics, timedNotary } from './stack-metrics.ts';
import { UpdateLoop } from './update-loop.ts';

/** Resolves when it is active or on standby. */
export async function startScheduler(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  await using stack = new AsyncDisposableStack();
  const scanning = stack.use(await openScanning(config, { logger }, world));
  const { store, rulebook } = scanning;
  const now = store.clock;
  const { dataDirectory, ledgerOrigin: origin } = config;
  const ledger = stack.use(await openLedger({ dataDirectory, origin, now, store }));
  let scheduler: Scheduler | undefined;
  let updateLoop: UpdateLoop | undefined;
  const knowledge = stack.use(
    await openKnowledge(
      config,
      { store, rulebook, logger },
      {
        onEvent: () => {},
        onScans: () => {},
        onRebuilt: () => {},
        onAdvisories: ({ entries }) => scheduler?.note(entries),
        onLearned: () => {},
      },
    ),
  );
  const metrics = new Metrics();
  metrics.disk(config.dataDirectory);
  addStoreMetrics(metrics, { store, now: world.now ?? now });
  addLedgerRefusal(metrics, ledger);
  const notary = timedNotary(ledger.notary, metrics);
  const onUpdate = () => updateLoop?.schedule();
  const opened = stack.use(
    await openScheduler(config, { scanning, knowledge, notary, logger, metrics, now, onUpdate }, world),
  );
  ({ scheduler } = opened);
  const loop = stack.use(new UpdateLoop({ logger, steps: [...knowledge.steps, ...scheduler.steps] }));
  updateLoop = loop;
  const facts = () => ({ role: config.role, is_working: opened.scheduler.isWorking });
  const readiness = new Readiness({ database: () => store.heads(), ledger: () => canSign(ledger) }, { facts });
  const { port: metricsPort } = stack.use(await listenForMetrics(metrics, config, readiness));
  const stopping = new AbortController();
  const { signal } = stopping;
  const tasks = [
    scheduler.run(signal),
    followStore({ store, logger, update: () => loop.run() }, signal),
    followKeys(ledger, logger, signal),
  ];
  readiness.started();
  stack.defer(async () => {
    readiness.stopping();
    stopping.abort();
    await Promise.all(tasks);
  });
  const owned = stack.move();
  return {
    store,
    isDnsWorking: undefined,
    port: undefined,
    metricsPort,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
