// Where the CPU time of a piece of work goes, as V8's own profiler samples it: by package, and what is none of ours.
import { type Profiler, Session } from 'node:inspector/promises';

const SAMPLE_MICROS = 2_000;
const SHOWN = 8;

export interface Profiled<T> {
  readonly value: T;
  /** CPU of the process, s. */
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** `33 % native, 20 % packages/scan …`, of the time that was not idle. */
  readonly summary: string;
}

export async function profiled<T>(work: () => Promise<T>): Promise<Profiled<T>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  try {
    const value = await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const { profile } = await session.post('Profiler.stop');
    return { value, seconds, cpuSeconds: (user + system) / 1e6, summary: summaryOf(profile) };
  } finally {
    session.disconnect();
  }
}

function summaryOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): string {
  const placeOf = new Map(nodes.map(({ id, callFrame }) => [id, placeName(callFrame)]));
  const micros = new Map<string, number>();
  let total = 0;
  samples.forEach((id, i) => {
    const place = placeOf.get(id) ?? 'unknown';
    if (place === 'idle') return;
    const delta = timeDeltas[i] ?? 0;
    total += delta;
    micros.set(place, (micros.get(place) ?? 0) + delta);
  });
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([place, each]) => `${((each / total) * 100).toFixed(0)} % ${place}`)
    .join(', ');
}

function placeName({ functionName, url }: { readonly functionName: string; readonly url: string }): string {
  if (functionName === '(idle)') return 'idle';
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url === '') return 'native and V8';
  const module = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  const own = /\/((?:packages|services|bench|catalog)(?:\/[a-z0-9-]+)?)/.exec(url)?.[1];
  return module ?? own ?? /^node:(?:internal\/)?[a-z_]+/.exec(url)?.[0] ?? 'elsewhere';
}
