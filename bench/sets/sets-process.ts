// The real service on a loaded database; reports how long its start took, and from what.
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import { loadedWorld } from '@strata/testnet';
import { reportReady } from '../measure.ts';
import { catalogOf } from './sets-load.ts';

/** `readyPath` is asked once, for the time of the start. */
const { directory, endsAt, readyPath } = JSON.parse(process.argv[2] ?? '{}') as {
  directory: string;
  endsAt: number;
  readyPath: string;
};
const config = readConfig({
  STRATA_DATA: directory,
  STRATA_STACK_PORT: '0',
  STRATA_METRICS_PORT: '0',
  STRATA_SCAN: 'off',
  STRATA_ADVISORIES: 'off',
  STRATA_ON_DEMAND: 'off',
  STRATA_RESOLVERS: '127.0.0.1:9',
});
let ready = { from: '', ms: 0 };
const logger = createLogger(
  { level: 'info' },
  {
    write(line: string) {
      const entry = JSON.parse(line) as { msg: string; from: string; ms: number };
      if (entry.msg === 'index ready') ready = { from: entry.from, ms: entry.ms };
    },
  },
);
const startedAt = performance.now();
const running = await startStack(config, logger, {
  now: () => new Date(endsAt),
  catalogEntries: catalogOf(loadedWorld({ domains: 0, endsAt })),
});
const { key } = await running.app.store.keys.create({ tier: 'unlimited' });
const base = `http://127.0.0.1:${running.port}`;
const answer = await fetch(base + readyPath, { headers: { 'x-stack-key': key } });
await answer.arrayBuffer();
if (!answer.ok) throw new Error(`${readyPath}: ${answer.status}`);
const answeringMs = performance.now() - startedAt;
globalThis.gc?.();
reportReady({ base, key, answeringMs, index: ready, rss: process.memoryUsage().rss }, async () => {
  await running[Symbol.asyncDispose]();
});
