// The real service on a loaded database; reports how long its start took, and from what.
import { createLogger } from '@strata/http';
import { loadedWorld } from '@strata/testnet';
import { childArgument, collectGarbage, reportReady } from '../measure.ts';
import { startQuiet } from '../quiet-service.ts';
import { catalogOf } from './sets-load.ts';

/** `readyPath` is asked once, for the time of the start. */
const { directory, endsAt, readyPath } = childArgument<{ directory: string; endsAt: number; readyPath: string }>();
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
const world = { now: () => new Date(endsAt), catalogEntries: catalogOf(loadedWorld({ domains: 0, endsAt })) };
const running = await startQuiet(directory, world, logger);
const { key } = running;
const base = `http://127.0.0.1:${running.port}`;
const answer = await fetch(base + readyPath, { headers: { 'x-stack-key': key } });
await answer.arrayBuffer();
if (!answer.ok) throw new Error(`${readyPath}: ${answer.status}`);
const answeringMs = performance.now() - startedAt;
collectGarbage();
reportReady({ base, key, answeringMs, index: ready, rss: process.memoryUsage().rss }, () =>
  running[Symbol.asyncDispose](),
);
