// Where the CPU time of a piece of work goes, as V8's own profiler samples it: by package, and by stage of the work.
import { type Profiler, Session } from 'node:inspector/promises';
import { timed } from '../measure.ts';

const SAMPLE_MICROS = 2_000;
const SHOWN = 8;

export interface Profiled<T> {
  readonly value: T;
  /** CPU of the process, s. */
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** `33 % native, 20 % packages/scan …`, of the time that was not idle. */
  readonly summary: string;
  /** The same time by stage: that of the nearest function that called and belongs to one. */
  readonly stages: string;
}

/** Stages by the functions that belong to them; the first that matches counts. */
export type Stages = Readonly<Record<string, RegExp>>;

export async function profiled<T>(work: () => Promise<T>, stages: Stages = {}): Promise<Profiled<T>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  try {
    const done = await timed(work);
    const { profile } = await session.post('Profiler.stop');
    return {
      ...done,
      ...{ summary: sharesOf(profile, functionsOf(profile)), stages: sharesOf(profile, stagesOf(profile, stages)) },
    };
  } finally {
    session.disconnect();
  }
}

/** By the function that was running. */
function functionsOf({ nodes }: Profiler.Profile): ReadonlyMap<number, string> {
  return new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]));
}

/** By the nearest function of a stage, from the one that was running up through its callers. */
function stagesOf({ nodes }: Profiler.Profile, stages: Stages): ReadonlyMap<number, string> {
  const own = Object.entries(stages);
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const stageOf = new Map<number, string>();
  const walk = (id: number, inherited: string) => {
    const node = nodeOf.get(id);
    if (node === undefined) return;
    const { url, functionName } = node.callFrame;
    const stage = own.find(([, pattern]) => pattern.test(url))?.[0] ?? OUTSIDE[functionName] ?? inherited;
    stageOf.set(id, stage);
    for (const child of node.children ?? []) walk(child, stage);
  };
  if (nodes[0]) walk(nodes[0].id, 'none of these');
  return stageOf;
}

/** What V8 does between functions. */
const OUTSIDE: Readonly<Record<string, string>> = {
  '(idle)': 'idle',
  '(garbage collector)': 'garbage collection',
  '(program)': 'native code that no function called',
};

function sharesOf({ samples = [], timeDeltas = [] }: Profiler.Profile, nameOf: ReadonlyMap<number, string>): string {
  const micros = new Map<string, number>();
  let total = 0;
  samples.forEach((id, i) => {
    const name = nameOf.get(id) ?? 'unknown';
    if (name === 'idle') return;
    const delta = timeDeltas[i] ?? 0;
    total += delta;
    micros.set(name, (micros.get(name) ?? 0) + delta);
  });
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, each]) => `${((each / total) * 100).toFixed(0)} % ${name}`)
    .join(', ');
}

function frameName({ functionName, url }: { readonly functionName: string; readonly url: string }): string {
  if (functionName === '(idle)') return 'idle';
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url === '') return 'native and V8';
  const module = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  const own = /\/((?:packages|services|bench|catalog)(?:\/[a-z0-9-]+)?)/.exec(url)?.[1];
  return module ?? own ?? /^node:(?:internal\/)?[a-z_]+/.exec(url)?.[0] ?? 'elsewhere';
}
