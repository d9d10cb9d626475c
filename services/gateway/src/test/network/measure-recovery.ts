// Prints how long a killed worker and one that stands still cost an answer, and what a token costs on its way through.
// Run: node services/gateway/src/test/network/measure-recovery.ts
import { GREEDY } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { answerOf, at, job, killed, MODEL, NEVER, PROMPT, stalledAt } from './answers.ts';
import { NetworkBed } from './network-bed.ts';

const KILLS = 200;
const STALLS = 40;
const LONG = 20_000;

await using bed = await NetworkBed.start(2);
const speed = { tokensPerSecond: 100, slots: 100 };
const quantiles = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (q: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${values.length})`;
};

/** The longest pause between two tokens. */
async function longestPause(): Promise<number> {
  await using engine = bed.engine(MODEL);
  let longest = 0;
  let last: number | undefined;
  for await (const event of engine.generate(job({ maxTokens: 20 }), NEVER)) {
    if (event.kind !== 'token') continue;
    const now = performance.now();
    if (last !== undefined) longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}

const recovered: number[] = [];
const detected: number[] = [];
for (let i = 0; i < KILLS; i += 1) {
  await bed.fresh();
  let killedAtMs = 0;
  const script = at(5, (frame, worker) => {
    killedAtMs = performance.now();
    return killed(frame, worker);
  });
  await bed.worker(0, createSimulatedEngine(speed), script);
  await bed.worker(1, createSimulatedEngine(speed));
  recovered.push(await longestPause());
  const again = bed.fleet.chosen[1];
  if (again) detected.push(again.atMs - killedAtMs);
}
console.log(`crash: from abort to the next choice ${quantiles(detected)}`);
console.log(`crash: last token before to first token after ${quantiles(recovered)}, 50 ms of it replay`);

await bed.fresh();
const stalls = await Promise.all(
  await (async () => {
    await bed.worker(
      0,
      createSimulatedEngine(speed),
      stalledAt(() => 15),
    );
    await bed.worker(1, createSimulatedEngine(speed));
    const session = bed.session(0);
    const { choose } = bed.fleet;
    bed.fleet.choose = (wanted, options) =>
      options.except.has(session.peer)
        ? choose.call(bed.fleet, wanted, options)
        : { session, expectedFirstTokenMs: 100, decodeTokensPerSecond: 100, contextLength: 131_072 };
    return Array.from({ length: STALLS }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 130));
      return longestPause();
    });
  })(),
);
console.log(`stall: last token before to first token after ${quantiles(stalls)}`);

await bed.fresh();
await bed.worker(0, createSimulatedEngine());
await using engine = bed.engine(MODEL);
const long = job({ prompt: PROMPT, maxTokens: LONG, sampling: { ...GREEDY, seed: 1 } });
await answerOf(engine, long);
const before = process.cpuUsage();
await answerOf(engine, long);
const { user, system } = process.cpuUsage(before);
console.log(
  `a token: ${((user + system) / LONG).toFixed(1)} µs of processor time, worker, both ends of the channel and engine together`,
);
