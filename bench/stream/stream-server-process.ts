// The real service with a few domains; on a message it records a change that is confirmed, which becomes one event.
import { detect, evidenceFromRecord } from '@strata/detect';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { collectGarbage, reportReady } from '../measure.ts';
import { startQuiet } from '../quiet-service.ts';

const stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const { app, updateLoop, key, port } = stack.use(await startQuiet(directory.path));
const { store, rulebook, hub } = app;

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
await updateLoop.run();

process.on('message', async (message) => {
  if (message === 'memory') {
    collectGarbage();
    const { rss, heapUsed: heap } = process.memoryUsage();
    process.send?.({ rss, heap, open: hub.subscribers });
    return;
  }
  servers.reverse();
  await scan(servers[0]);
  await scan(servers[0]);
  const recordedAt = performance.timeOrigin + performance.now();
  // As the service does after each scan: it waits for 100 ms, so that scans share an update.
  updateLoop.schedule();
  process.send?.({ recordedAt });
});

reportReady({ port, key }, () => stack.disposeAsync());
