// One node in its role, as `strata stack serve` runs it, with or without a simulated internet; reports its resource use on request.
import { createLogger } from '@strata/http';
import { readConfig, startRole, type World } from '@strata/stack';
import { type BenchInternet, near } from '../internet.ts';
import { childArgument, reportReady, reportUse } from '../measure.ts';
import { type ShortDays, shortDays } from './days.ts';

export interface NodeOptions {
  readonly settings: Readonly<Record<string, string>>;
  readonly internet?: BenchInternet;
  readonly days?: ShortDays;
  /** In place of the days of the settings. */
  readonly rescanAfterMs?: number;
  readonly confirmAfterMs?: number;
}

export interface ReadyNode {
  readonly port: number | undefined;
}

const { settings, internet, days, ...intervals } = childArgument<NodeOptions>();
const config = readConfig({ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_LOG_LEVEL: 'error', ...settings });
const world: World = {
  ...(days ? { now: shortDays(days) } : {}),
  ...(internet ? near(internet) : {}),
  nvdGapMs: 0,
};
const resolvers = [internet?.resolver ?? { address: '127.0.0.1', port: 9 }];
const logger = createLogger({ level: config.logLevel });
const running = await startRole({ ...config, ...intervals, resolvers }, logger, world);
reportUse();
reportReady({ port: running.port } satisfies ReadyNode, () => running[Symbol.asyncDispose]());
