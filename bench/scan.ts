// A scan of 5,000 simulated domains, recorded: domains a second and memory. The internet has a process of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openScanning, readConfig } from '@strata/stack';
import pino from 'pino';
import type { Figure } from './main.ts';
import { perSecond, startChild } from './measure.ts';

interface InternetProcess {
  readonly domains: readonly string[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  readonly plainPort: number;
  readonly securePort: number;
}

const DOMAINS = 5_000;
const CONCURRENCY = 200;

export async function benchScan(): Promise<Figure[]> {
  await using internet = await startChild<InternetProcess>('./internet-process.ts', { domains: DOMAINS });
  const { domains, resolver, caPem, plainPort, securePort } = internet.ready;
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
  const scanning = await openScanning(
    { ...readConfig({ STRATA_DATA: directory }), resolvers: [resolver], scanConcurrency: CONCURRENCY },
    { logger: pino({ level: 'error' }, pino.destination(2)) },
    {
      // What listens for refused or cut connections there is not dialled here: nothing listens on port 1.
      dial: ({ address, port }) => ({
        address: '127.0.0.1',
        port: /\.25[12]$/.test(address) ? 1 : port === 443 ? securePort : plainPort,
      }),
      trustedCa: [caPem],
      dnsTryTimeoutMs: 500,
      requestTimeoutMs: 1_500,
    },
  );
  try {
    await scanning.store.addDomains(domains, { source: 'bench' });
    let done = 0;
    let at90 = 0;
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    await scanning.scanner.runAll(domains, {
      onDone: () => {
        done += 1;
        if (done === DOMAINS * 0.9) at90 = performance.now();
      },
      signal: AbortSignal.timeout(400_000),
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpu = process.cpuUsage(cpuBefore);
    const cpuSeconds = (cpu.user + cpu.system) / 1e6;
    const { questions, sent } = scanning.prober.stats();
    return [
      {
        what: `${done} domains scanned and recorded, faults on`,
        value: perSecond(done / seconds),
        against: `${seconds.toFixed(1)} s in all`,
      },
      {
        what: 'of which the first 90 %',
        value: perSecond((DOMAINS * 0.9 * 1_000) / (at90 - startedAt)),
        against: 'without the wait for silent zones at the end',
      },
      {
        what: 'DNS questions a second',
        value: perSecond(questions / seconds),
        against: `${(sent / done).toFixed(1)} packets a domain`,
      },
      {
        what: 'CPU of the scanner',
        value: `${((cpuSeconds * 1_000) / done).toFixed(1)} ms a domain`,
        against: `${perSecond(done / cpuSeconds)} a core`,
      },
      {
        what: 'RSS after the scan',
        value: `${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
        against: 'goal for 1 M domains: < 1,536 MiB',
      },
    ];
  } finally {
    await scanning[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
}
