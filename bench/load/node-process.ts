// One node in its role, as `strata stack serve` runs it, with or without a simulated internet; reports its resource use on request.
import { createLogger } from '@strata/http';
import { readConfig, startRole, type World } from '@strata/stack';
import { collectGarbage, reportReady } from '../measure.ts';
import { type ShortDays, shortDays } from './days.ts';
import type { MovingInternet } from './moving-internet-process.ts';

export interface NodeOptions {
  readonly settings: Readonly<Record<string, string>>;
  readonly internet?: Pick<MovingInternet, 'resolver' | 'caPem' | 'plainPort' | 'securePort'>;
  readonly days?: ShortDays;
  /** In place of the days of the settings. */
  readonly rescanAfterMs?: number;
  readonly confirmAfterMs?: number;
}

export interface ReadyNode {
  readonly port: number | undefined;
  readonly metricsPort: number;
}

/** Asked by a message: `use`, or `live`, which collects the garbage first. */
export interface NodeUse {
  readonly cpuSeconds: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

const { settings, internet, days, ...intervals } = JSON.parse(process.argv[2] ?? '{}') as NodeOptions;
const config = readConfig({ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_LOG_LEVEL: 'error', ...settings });
const world: World = {
  ...(days ? { now: shortDays(days) } : {}),
  ...(internet ? near(internet) : {}),
  nvdGapMs: 0,
};
const running = await startRole(
  { ...config, ...intervals, resolvers: internet ? [internet.resolver] : [{ address: '127.0.0.1', port: 9 }] },
  createLogger({ level: config.logLevel }),
  world,
);

process.on('message', (message) => {
  if (message === 'live') collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const use: NodeUse = { cpuSeconds: (user + system) / 1e6, rss, heapUsed, external };
  process.send?.(use);
});
const { port, metricsPort } = running;
reportReady({ port, metricsPort }, async () => {
  await running[Symbol.asyncDispose]();
});

function near({ caPem, plainPort, securePort }: NonNullable<NodeOptions['internet']>): World {
  return {
    // What listens there for connections that are refused or cut is not dialled: nothing listens on port 1.
    dial: ({ address, port }) => ({
      address: '127.0.0.1',
      port: /\.25[12]$/.test(address) ? 1 : port === 443 ? securePort : plainPort,
    }),
    trustedCa: [caPem],
    dnsTryTimeoutMs: 500,
    requestTimeoutMs: 1_500,
  };
}
