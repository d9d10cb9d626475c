// The index alone, at sizes that no store is loaded for: memory by part, times of start and rebuild, and of its questions.
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, mib, startChild, thousands } from '../measure.ts';
import type { BuiltIndex, IndexArgument, LoadedIndex } from './index-process.ts';

const GOALS = { bytes: 120, rssMib: 4_096, loadSeconds: 30, buildSeconds: 180, againMs: 2, firstMs: 50 } as const;
/** Of the questions, those that took the longest. */
const SLOWEST = 6;

export async function benchIndex(domains: number, endsAt: number): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const argument = { domains, endsAt, file: `${directory.path}/index.snapshot` };
  const size = thousands(domains);
  const built = await inChild<BuiltIndex>({ ...argument, step: 'build' });
  const { load, rss, memory, questions } = await inChild<LoadedIndex>({ ...argument, step: 'load' });
  const parts = Object.entries(memory).map(([part, bytes]) => [part, bytes / domains] as const);
  const total = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const seconds = (of: BuiltIndex['build']) => `${of.seconds.toFixed(1)} s, ${of.cpuSeconds.toFixed(1)} s of CPU`;
  return [
    [`${size}: index from data in memory`, seconds(built.build), `goal < ${GOALS.buildSeconds} s`],
    [`${size}: snapshot, written`, `${mib(built.save.bytes)} in ${built.save.seconds.toFixed(1)} s`],
    [`${size}: start from the snapshot`, seconds(load), `goal < ${GOALS.loadSeconds} s`],
    [`${size}: RSS after the questions`, mib(rss), `goal < ${thousands(GOALS.rssMib)} MiB`],
    [`${size}: bytes a domain`, total.toFixed(1), `goal ≤ ${GOALS.bytes}`],
    ...parts
      .toSorted(([, a], [, b]) => b - a)
      .map(([part, bytes]): Figure => [`${size}: bytes a domain, ${part}`, bytes.toFixed(2)]),
    ...slowest(questions, 'firstMs').map((each): Figure => figureOf(size, each, 'firstMs')),
    ...slowest(questions, 'againMs').map((each): Figure => figureOf(size, each, 'againMs')),
  ];
}

type Asked = LoadedIndex['questions'][number];
type Time = 'firstMs' | 'againMs';

const slowest = (questions: readonly Asked[], time: Time) =>
  questions.toSorted((a, b) => b[time] - a[time]).slice(0, SLOWEST);

const figureOf = (size: string, asked: Asked, time: Time): Figure => [
  `${size}: ${asked.what}, ${time === 'firstMs' ? 'first time' : 'again, no stored answer'}`,
  `${asked[time].toFixed(2)} ms of CPU`,
  `goal < ${GOALS[time]} ms${asked[time] < GOALS[time] ? '' : ', missed'}`,
];

async function inChild<Result>(argument: IndexArgument): Promise<Result> {
  await using child = await startChild<Result>(new URL('./index-process.ts', import.meta.url), argument);
  return child.ready;
}
