// The real service with a few domains; on a message it records a change that is confirmed, which becomes one event.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { detect, evidenceFromRecord } from '@strata/detect';
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import { reportReady } from '../measure.ts';

const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
const config = readConfig({
  STRATA_DATA: directory,
  STRATA_STACK_PORT: '0',
  STRATA_METRICS_PORT: '0',
  STRATA_SCAN: 'off',
  STRATA_ADVISORIES: 'off',
  STRATA_RESOLVERS: '127.0.0.1:9',
});
const running = await startStack(config, createLogger({ level: 'error' }));
const { store, rulebook } = running.app;
const { key } = await store.keys.create({ tier: 'unlimited' });

const servers = ['ada.ns.cloudflare.com', 'dns1.p01.nsone.net'];
let hours = 0;
async function scan(server: string | undefined): Promise<void> {
  hours += 12;
  const at = new Date(Date.now() + hours * 3_600_000);
  const evidence = {
    ...evidenceFromRecord({ domain: 'example.com', ns: [server] }),
    observedAt: at.toISOString(),
  };
  const profile = detect(evidence, rulebook);
  await store.recordScans([{ profile, evidence, startedAt: at, finishedAt: at }], { confirmAfterMs: 1 });
}
await scan(servers[0]);
await running.updateLoop.run();

process.on('message', async (message) => {
  if (message === 'memory') {
    globalThis.gc?.();
    process.send?.({
      rss: process.memoryUsage().rss,
      heap: process.memoryUsage().heapUsed,
      open: running.app.hub.subscribers,
    });
    return;
  }
  servers.reverse();
  await scan(servers[0]);
  await scan(servers[0]);
  const committedAt = process.hrtime.bigint();
  // As the service does after each scan: it waits for 100 ms, so that scans share an update.
  running.updateLoop.schedule();
  process.send?.({ committedAt: String(committedAt) });
});

reportReady({ url: `http://127.0.0.1:${running.port}/stack/v1/stream`, port: running.port, key }, async () => {
  await running[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});
