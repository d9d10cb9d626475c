// Where the CPU time of a piece of work goes, by stage of the work, as V8's own profiler samples it.
import { type Profiler, Session } from 'node:inspector/promises';
import { timed } from '../measure.ts';

const SAMPLE_MICROS = 2_000;
const SHOWN = 8;

/** Stages by the functions that belong to them; the first that matches counts. */
export type Stages = Readonly<Record<string, RegExp>>;

/** `timed`, with `33 % DNS, 20 % TLS …` of the time that was not idle: that of the nearest function that called and belongs to a stage. */
export async function profiled<T>(work: () => Promise<T>, stages: Stages) {
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
