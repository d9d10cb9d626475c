// A scan of simulated domains by stage: probed, detected, committed. The Internet has a process of its own.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { detect, type Evidence } from '@strata/detect';
import { openScanning, readConfig, type Scanning } from '@strata/stack';
import pino from 'pino';
import { profiled } from './cpu-summary.ts';
import type { Figure } from './main.ts';
import { perSecond, startChild } from './measure.ts';

interface InternetProcess {
  readonly domains: readonly string[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  readonly plainPort: number;
  readonly securePort: number;
}

/** `STRATA_BENCH_DOMAINS=100000` for more. */
const DOMAINS = Number(process.env.STRATA_BENCH_DOMAINS ?? 10_000);
const CONCURRENCY = 200;
/** As many as the scanner has at once. */
const COMMITS_AT_ONCE = 64;
/** Evidence in memory at once, between the stages. */
const PART = 1_000;
const CONFIRM_AFTER_MS = 6 * 3_600_000;

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
    const file = path.join(directory, 'evidence.jsonl');
    return [...(await probeAll(scanning, domains, file)), ...(await recordAll(scanning, file))];
  } finally {
    await scanning[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The evidence goes to a file; what that costs is taken off. */
async function probeAll({ prober }: Scanning, domains: readonly string[], file: string): Promise<Figure[]> {
  const out = createWriteStream(file);
  let next = 0;
  let done = 0;
  let at90 = 0;
  let writingMs = 0;
  const startedAt = performance.now();
  const worker = async () => {
    for (;;) {
      const domain = domains[next++];
      if (domain === undefined) return;
      const evidence = await prober.probe(domain);
      done += 1;
      if (done === Math.floor(domains.length * 0.9)) at90 = performance.now();
      const writingAt = performance.now();
      out.write(`${JSON.stringify(evidence)}\n`);
      writingMs += performance.now() - writingAt;
    }
  };
  const { seconds, cpuSeconds, summary } = await profiled(async () => {
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  });
  await new Promise<void>((resolve) => out.end(resolve));
  const cpuMs = (cpuSeconds * 1_000 - writingMs) / done;
  const { questions, sent } = prober.stats();
  return [
    {
      what: `probe: ${done.toLocaleString('en-US')} domains, ${CONCURRENCY} at once, faults on`,
      value: perSecond(done / seconds),
      against: `${seconds.toFixed(0)} s in all; the first 90 %, without the wait for silent zones at the end: ${perSecond((done * 0.9 * 1_000) / (at90 - startedAt))}`,
    },
    {
      what: 'probe: DNS questions',
      value: perSecond(questions / seconds),
      against: `${(questions / done).toFixed(1)} questions and ${(sent / done).toFixed(1)} packets a domain`,
    },
    { what: 'probe: CPU', value: `${cpuMs.toFixed(2)} ms a domain`, against: `${perSecond(1_000 / cpuMs)} a core` },
    { what: 'probe: where the CPU goes', value: summary, against: '' },
    { what: 'probe: RSS at its end', value: rss(), against: 'goal for 1 M domains: < 1,536 MiB' },
  ];
}

async function recordAll({ store, rulebook }: Scanning, file: string): Promise<Figure[]> {
  const redetect = (evidence: Evidence) => detect(evidence, rulebook);
  const sum = { detectMs: 0, commitMs: 0, commitCpuMs: 0, done: 0 };
  const record = async (evidence: readonly Evidence[]) => {
    const detectingAt = performance.now();
    const found = evidence.map((each) => ({ evidence: each, profile: redetect(each) }));
    sum.detectMs += performance.now() - detectingAt;
    const now = new Date();
    const cpu = process.cpuUsage();
    const committingAt = performance.now();
    const queue = found[Symbol.iterator]();
    const worker = async () => {
      for (const { evidence, profile } of queue)
        await store.recordScan(
          { profile, evidence, startedAt: now, finishedAt: now },
          { confirmAfterMs: CONFIRM_AFTER_MS, redetect },
        );
    };
    await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, worker));
    sum.commitMs += performance.now() - committingAt;
    const { user, system } = process.cpuUsage(cpu);
    sum.commitCpuMs += (user + system) / 1_000;
    sum.done += found.length;
  };
  const { summary } = await profiled(async () => {
    let part: Evidence[] = [];
    for await (const line of createInterface({ input: createReadStream(file) })) {
      part.push(JSON.parse(line));
      if (part.length < PART) continue;
      await record(part);
      part = [];
    }
    await record(part);
  });
  const { detectMs, commitMs, commitCpuMs, done } = sum;
  return [
    {
      what: 'detect, with the posture',
      value: perSecond((done * 1_000) / detectMs),
      against: `${(detectMs / done).toFixed(3)} ms a domain`,
    },
    {
      what: `commit: a transaction a domain, SQLite, ${COMMITS_AT_ONCE} at once`,
      value: perSecond((done * 1_000) / commitMs),
      against: `${(commitCpuMs / done).toFixed(2)} ms of CPU a domain`,
    },
    { what: 'detect and commit: where the CPU goes, reading the file too', value: summary, against: '' },
    { what: 'RSS at the end', value: rss(), against: 'goal for 1 M domains: < 1,536 MiB' },
  ];
}

const rss = () => `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`;
