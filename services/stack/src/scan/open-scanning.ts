// The composition root of scanning, for the service and for scans without a server.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { idleLabels } from '@strata/detect';
import { makeDirectory } from '@strata/files';
import { StartError } from '@strata/http';
import { createOptOut, createProber, Resolver } from '@strata/scan';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Scanning, World } from '../context.ts';
import { EventBus } from '../events.ts';
import { startErrorOf } from '../start-error.ts';
import { openStore, type Store } from '../store/index.ts';
import { describeRanges } from './address-range-files.ts';
import { outboundOptions } from './open-fetcher.ts';
import { openStoredRulebook } from './open-rulebook.ts';
import { createScanner } from './scanner.ts';

/** A name that always exists. */
const KNOWN_NAME = 'com';
/** Concurrent on-demand scans of all clients. */
const ON_DEMAND_CONCURRENCY = 32;

/** A folder in the data directory during a restore: an incomplete data set must not be served. */
export const RESTORING = 'restoring';

/** Opens the configured database; creates the data directory on first use. */
export async function openConfiguredStore(config: Config, { now }: Pick<World, 'now'> = {}): Promise<Store> {
  await makeDirectory(config.dataDirectory, { mode: 0o700 }).catch((cause: unknown) => {
    const doing = `create the data directory ${config.dataDirectory}`;
    throw startErrorOf(cause, { doing, advice: 'choose another one with STRATA_DATA' });
  });
  if (existsSync(path.join(config.dataDirectory, RESTORING)))
    throw new StartError(
      `a restore into ${config.dataDirectory} was interrupted or still runs: run \`strata stack restore\` again`,
    );
  const { databaseUrl, databaseConnections: poolSize, rescanAfterMs } = config;
  return openStore(databaseUrl, { ...(now ? { now } : {}), poolSize, rescanAfterMs });
}

/** Opens the dependencies of a scan. */
export async function openScanning(
  config: Config,
  { logger, events = new EventBus(logger) }: { readonly logger: Logger; readonly events?: EventBus },
  world: World = {},
): Promise<Scanning> {
  await using stack = new AsyncDisposableStack();
  const isOptedOut = config.optOutFile ? createOptOut(await readOptOut(config.optOutFile)) : () => false;
  const store = stack.use(await openConfiguredStore(config, world));
  const { catalog, rulebook } = await openStoredRulebook(store, config, { ...world, logger });
  if (rulebook.ranges) logger.info(describeRanges(rulebook.ranges), 'address ranges loaded');
  const now = world.now ?? store.clock;
  const outbound = outboundOptions(config, world);
  const resolver = stack.use(new Resolver(outbound.resolver));
  const isDnsWorking = async () => (await resolver.query(KNOWN_NAME, 'NS')).status === 'found';
  const prober = stack.use(
    createProber({
      ...outbound,
      probeLabels: rulebook.probeLabels,
      idleAfter: (mx) => idleLabels(mx, rulebook),
      keepSource: rulebook.sets?.needsSource ?? false,
      ...(world.requestTimeoutMs ? { requestTimeoutMs: world.requestTimeoutMs } : {}),
      now,
    }),
  );
  const scanner = createScanner(
    { store, prober, rulebook, now, isDnsWorking, logger, events },
    {
      confirmAfterMs: config.confirmAfterMs,
      concurrency: config.scanConcurrency,
      onDemandConcurrency: ON_DEMAND_CONCURRENCY,
      isOptedOut,
    },
  );
  stack.use(scanner);
  return Object.assign(stack.move(), { store, catalog, prober, rulebook, scanner, isOptedOut, isDnsWorking });
}

/** Fails if the list is unreadable: never scans without the configured list. */
async function readOptOut(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw startErrorOf(cause, { doing: `read the opt-out list ${file}`, advice: 'see STRATA_OPT_OUT_FILE' });
  });
}
