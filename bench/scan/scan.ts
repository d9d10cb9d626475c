// A scan of simulated domains by stage: probed, detected, committed. The Internet has a process of its own.
import { createReadStream, createWriteStream } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { detect, type Evidence } from '@strata/detect';
import { openScanning, readConfig, type Scanning } from '@strata/stack';
import pino from 'pino';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type BenchInternet, near, startInternet } from '../internet.ts';
import { type Figure, mib, perSecond, setting, thousands, timed } from '../measure.ts';
import { sendBareTraffic, trafficOf } from './bare-traffic.ts';

const DOMAINS = setting('DOMAINS', 10_000);
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
    {
      ...readConfig({ STRATA_DATA: directory.path }),
      resolvers: [{ ...resolver, transport: 'tcp' }],
      scanConcurrency: CONCURRENCY,
    },
    { logger: pino({ level: 'error' }, pino.destination(2)) },
    near(internet.ready),
  );
  await scanning.store.domains.add(domains, { source: 'bench' });
  const file = path.join(directory.path, 'evidence.jsonl');
  const figures = await probeAll(scanning, domains, file);
  const bare = await barely(file, internet.ready);
  return [...figures, bare, ...(await recordAll(scanning, file))];
}

/** The evidence goes to a file; what that costs is taken off. */
async function probeAll({ prober }: Scanning, domains: readonly string[], file: string): Promise<Figure[]> {
  const out = createWriteStream(file);
  const waiting = domains.values();
  let writingMs = 0;
  const worker = async () => {
    for (const domain of waiting) {
      const evidence = await prober.probe(domain);
      const writingAt = performance.now();
      out.write(`${JSON.stringify(evidence)}\n`);
      writingMs += performance.now() - writingAt;
    }
  };
  let maxRss = 0;
  const sampling = setInterval(() => {
    maxRss = Math.max(maxRss, process.memoryUsage.rss());
  }, SAMPLE_EVERY_MS);
  const probing = () => Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const { seconds, cpuSeconds, stages } = await profiled(probing, PROBE_STAGES);
  clearInterval(sampling);
  await new Promise<void>((resolve) => out.end(resolve));
  const cpuMs = (cpuSeconds * 1_000 - writingMs) / domains.length;
  const { questions, sent } = prober.stats();
  return [
    [
      `probe: ${thousands(domains.length)} domains, ${CONCURRENCY} at once, faults on, the resolver over TCP`,
      perSecond(domains.length / seconds),
      `${cpuMs.toFixed(2)} ms of CPU a domain: ${perSecond(1_000 / cpuMs)} a core; goal ≤ 3.0 ms`,
    ],
    ['probe: DNS questions', perSecond(questions / seconds), `${(sent / domains.length).toFixed(1)} packets a domain`],
    ['probe: the CPU by stage', stages],
    ['probe: RSS, the peak', mib(maxRss), 'goal for 1 M domains: < 1,536 MiB'],
  ];
}

/** The same questions and requests by Node's own clients: what the traffic costs without a probe. */
async function barely(file: string, internet: BenchInternet): Promise<Figure> {
  const traffic: ReturnType<typeof trafficOf>[] = [];
  for await (const line of createInterface({ input: createReadStream(file) }))
    traffic.push(trafficOf(JSON.parse(line)));
  const { cpuMs, questions, answered } = await sendBareTraffic(traffic, internet, CONCURRENCY);
  return [
    'the same questions and requests by `node:dns` (c-ares) and `node:https`, not read',
    `${cpuMs.toFixed(2)} ms of CPU a domain`,
    `${questions.toFixed(1)} questions, ${answered.toFixed(1)} answered requests a domain`,
  ];
}

async function recordAll({ store, rulebook }: Scanning, file: string): Promise<Figure[]> {
  const redetect = (evidence: Evidence) => detect(evidence, rulebook);
  const sum = { detectMs: 0, commitMs: 0, commitCpuMs: 0, done: 0 };
  const record = async (part: readonly Evidence[]) => {
    const now = new Date();
    const detected = await timed(() =>
      part.map((evidence) => ({ evidence, profile: redetect(evidence), startedAt: now, finishedAt: now })),
    );
    const committed = await timed(async () => {
      for (let i = 0; i < part.length; i += BATCH) {
        const options = { confirmAfterMs: CONFIRM_AFTER_MS, redetect };
        for (const result of await store.recordScans(detected.value.slice(i, i + BATCH), options))
          if (result.status === 'rejected') throw result.reason;
      }
    });
    sum.detectMs += detected.seconds * 1_000;
    sum.commitMs += committed.seconds * 1_000;
    sum.commitCpuMs += committed.cpuSeconds * 1_000;
    sum.done += part.length;
  };
  let part: Evidence[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    part.push(JSON.parse(line));
    if (part.length < PART) continue;
    await record(part);
    part = [];
  }
  await record(part);
  const { detectMs, commitMs, commitCpuMs, done } = sum;
  return [
    ['detect, with the posture', perSecond((done * 1_000) / detectMs), `${(detectMs / done).toFixed(3)} ms a domain`],
    [
      `commit: ${BATCH} domains a transaction, SQLite`,
      perSecond((done * 1_000) / commitMs),
      `${(commitCpuMs / done).toFixed(2)} ms of CPU a domain`,
    ],
    ['RSS at the end', mib(process.memoryUsage.rss()), 'goal for 1 M domains: < 1,536 MiB'],
  ];
}

const SAMPLE_MICROS = 2_000;
const SHOWN = 8;

/** Stages by the functions that belong to them; the first that matches counts. */
type Stages = Readonly<Record<string, RegExp>>;

/** `timed`, with `33 % DNS, 20 % TLS …` of the time that was not idle: that of the nearest function that called and belongs to a stage. */
async function profiled<T>(work: () => Promise<T>, stages: Stages) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  try {
    const done = await timed(work);
    const { profile } = await session.post('Profiler.stop');
    return { ...done, stages: sharesOf(profile, stages) };
  } finally {
    session.disconnect();
  }
}

/** What V8 does between functions. */
const OUTSIDE: Readonly<Record<string, string>> = {
  '(idle)': 'idle',
  '(garbage collector)': 'garbage collection',
  '(program)': 'native code that no function called',
};

function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, stages: Stages): string {
  const patterns = Object.entries(stages);
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const stageOf = new Map<number, string>();
  const walk = (id: number, inherited: string) => {
    const { callFrame, children = [] } = nodeOf.get(id) as Profiler.ProfileNode;
    const own = patterns.find(([, pattern]) => pattern.test(callFrame.url))?.[0];
    const stage = own ?? OUTSIDE[callFrame.functionName] ?? inherited;
    stageOf.set(id, stage);
    for (const child of children) walk(child, stage);
  };
  if (nodes[0]) walk(nodes[0].id, 'none of these');
  const micros = new Map<string, number>();
  let total = 0;
  for (const [i, id] of samples.entries()) {
    const stage = stageOf.get(id) ?? 'unknown';
    if (stage === 'idle') continue;
    const delta = timeDeltas[i] ?? 0;
    total += delta;
    micros.set(stage, (micros.get(stage) ?? 0) + delta);
  }
  const sorted = [...micros].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  return sorted.map(([stage, each]) => `${((each / total) * 100).toFixed(0)} % ${stage}`).join(', ');
}
