// A scan of simulated domains by stage: probed, detected, committed. The Internet has a process of its own.
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { detect, type Evidence } from '@strata/detect';
import { openScanning, readConfig, type Scanning } from '@strata/stack';
import pino from 'pino';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type BenchInternet, near, startInternet } from '../internet.ts';
import { type Child, type Figure, perSecond, useOf } from '../measure.ts';
import { profiled, type Stages } from './cpu-summary.ts';

/** `STRATA_BENCH_DOMAINS=100000` for more. */
const DOMAINS = Number(process.env.STRATA_BENCH_DOMAINS ?? 10_000);
const CONCURRENCY = 200;
/** As many as the scanner commits in one transaction. */
const BATCH = 64;
/** Evidence in memory at once, between the stages. */
const PART = 1_024;
const CONFIRM_AFTER_MS = 6 * 3_600_000;
const SAMPLE_EVERY_MS = 1_000;
const PROBE_STAGES: Stages = {
  DNS: /packages\/scan\/src\/(?:dns\/|semaphore|probe\/(?:dns-|dmarc-|spf-|networks|asn))|node:dgram|dns-packet|lru-cache/,
  TLS: /^node:(?:internal\/tls|_tls|tls)|packages\/scan\/src\/web\/site\/certificate/,
  'reading pages': /packages\/detect\/|packages\/scan\/src\/web\/(?:site\/response-evidence|body-reader)|node:zlib/,
  HTTP: /^node:(?:_http|http|internal\/http)|packages\/scan\/src\/web\//,
  'the probe itself': /packages\/scan\/src\/probe\/prober/,
  'writing the evidence down': /bench\/scan/,
};

export async function benchScan(): Promise<Figure[]> {
  await using internet = await startInternet({ domains: DOMAINS, feeds: 0 });
  const { domains, resolver } = internet.ready;
  await using directory = await temporaryDirectory();
  await using scanning = await openScanning(
    { ...readConfig({ STRATA_DATA: directory.path }), resolvers: [resolver], scanConcurrency: CONCURRENCY },
    { logger: pino({ level: 'error' }, pino.destination(2)) },
    near(internet.ready),
  );
  await scanning.store.domains.add(domains, { source: 'bench' });
  const file = path.join(directory.path, 'evidence.jsonl');
  return [...(await probeAll(scanning, internet, file)), ...(await recordAll(scanning, file))];
}

/** The evidence goes to a file; what that costs is taken off. */
async function probeAll({ prober }: Scanning, internet: Child<BenchInternet>, file: string): Promise<Figure[]> {
  const { domains } = internet.ready;
  const out = createWriteStream(file);
  const quarters: number[] = [];
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
      if (done === Math.ceil((domains.length * (quarters.length + 1)) / 4)) quarters.push(rssMiB());
      const writingAt = performance.now();
      out.write(`${JSON.stringify(evidence)}\n`);
      writingMs += performance.now() - writingAt;
    }
  };
  let max = 0;
  const sampling = setInterval(() => {
    max = Math.max(max, rssMiB());
  }, SAMPLE_EVERY_MS);
  const before = (await useOf(internet)).cpuSeconds;
  const probing = () => Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const { seconds, cpuSeconds, summary, stages } = await profiled(probing, PROBE_STAGES);
  const theirs = ((await useOf(internet)).cpuSeconds - before) / seconds;
  clearInterval(sampling);
  await new Promise<void>((resolve) => out.end(resolve));
  const cpuMs = (cpuSeconds * 1_000 - writingMs) / done;
  const { questions, cacheHits, shared, sent, timeouts } = prober.stats();
  const each = (count: number) => (count / done).toFixed(1);
  return [
    {
      what: `probe: ${done.toLocaleString('en-US')} domains, ${CONCURRENCY} at once, faults on`,
      value: perSecond(done / seconds),
      against: `${seconds.toFixed(0)} s in all; the first 90 %, without the wait for silent zones at the end: ${perSecond((done * 0.9 * 1_000) / (at90 - startedAt))}`,
    },
    {
      what: 'probe: DNS questions',
      value: perSecond(questions / seconds),
      against: `a domain: ${each(questions)} questions, ${each(cacheHits)} answered from memory and ${each(shared)} by shared work, ${each(sent)} packets, ${each(timeouts)} of them unanswered`,
    },
    {
      what: 'probe: CPU',
      value: `${cpuMs.toFixed(2)} ms a domain`,
      against: `${perSecond(1_000 / cpuMs)} a core; it had ${share(cpuSeconds / seconds)} of one, and the Internet beside it ${share(theirs)} of another`,
    },
    { what: 'probe: the CPU by stage', value: stages, against: '' },
    { what: 'probe: the CPU by package', value: summary, against: '' },
    {
      what: 'probe: RSS, the peak',
      value: `${max} MiB`,
      against: `after each quarter of the domains: ${quarters.join(', ')} MiB; goal for 1 M domains: < 1,536 MiB`,
    },
  ];
}

async function recordAll({ store, rulebook }: Scanning, file: string): Promise<Figure[]> {
  const redetect = (evidence: Evidence) => detect(evidence, rulebook);
  const sum = { detectMs: 0, commitMs: 0, commitCpuMs: 0, done: 0 };
  const record = async (evidence: readonly Evidence[]) => {
    const detectingAt = performance.now();
    const now = new Date();
    const found = evidence.map((each) => ({
      ...{ evidence: each, profile: redetect(each) },
      ...{ startedAt: now, finishedAt: now },
    }));
    sum.detectMs += performance.now() - detectingAt;
    const cpu = process.cpuUsage();
    const committingAt = performance.now();
    for (let i = 0; i < found.length; i += BATCH) {
      const results = await store.recordScans(found.slice(i, i + BATCH), {
        confirmAfterMs: CONFIRM_AFTER_MS,
        redetect,
      });
      const failure = results.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
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
      what: `commit: ${BATCH} domains a transaction, SQLite`,
      value: perSecond((done * 1_000) / commitMs),
      against: `${(commitCpuMs / done).toFixed(2)} ms of CPU a domain`,
    },
    { what: 'detect and commit: the CPU by package, reading the file too', value: summary, against: '' },
    { what: 'RSS at the end', value: `${rssMiB()} MiB`, against: 'goal for 1 M domains: < 1,536 MiB' },
  ];
}

const rssMiB = () => Math.round(process.memoryUsage.rss() / 2 ** 20);
const share = (value: number) => `${(value * 100).toFixed(0)} %`;
