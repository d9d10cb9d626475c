// The real service with a domain; on a message it records a change that is confirmed, which becomes one event.
import { detect, evidenceFromRecord } from '@strata/detect';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { reportReady, reportUse } from '../measure.ts';
import { startQuiet } from '../quiet-service.ts';

const stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const { app, updateLoop, key, port } = stack.use(await startQuiet(directory.path));
const { store, rulebook } = app;

const servers = ['ada.ns.cloudflare.com', 'dns1.p01.nsone.net'];
let hours = 0;
async function scan(server: string | undefined): Promise<void> {
  hours += 12;
  const at = new Date(Date.now() + hours * 3_600_000);
  const read = evidenceFromRecord({ domain: 'example.com', ns: [server] });
  const evidence = { ...read, observedAt: at.toISOString() };
  const profile = detect(evidence, rulebook);
  await store.recordScans([{ profile, evidence, startedAt: at, finishedAt: at }], { confirmAfterMs: 1 });
}
await scan(servers[0]);
await updateLoop.run();

reportUse();
process.on('message', async (message) => {
  if (message !== 'publish') return;
  servers.reverse();
  await scan(servers[0]);
  await scan(servers[0]);
  const recordedAt = performance.timeOrigin + performance.now();
  // As the service does after each scan: it waits for 100 ms, so that scans share an update.
  updateLoop.schedule();
  process.send?.({ recordedAt });
});
reportReady({ port, key }, () => stack.disposeAsync());
