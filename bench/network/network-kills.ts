// Ten thousand kills at random positions of answers: of a simulated engine, where every token depends on all before it, and of a real one
// that holds to a schema, calls a tool or stops at a string. Nothing may be lost or repeated.
import { type Engine, type OpenedVocabulary, openVocabulary, startLlamaEngine } from '@strata/engine';
import { createSimulatedEngine, simulatedAnswer, tinyChatModel } from '@strata/testnet';
import { answerOf, job, PROMPT } from '../../services/gateway/src/test/network/answers.ts';
import { TestNetwork } from '../../services/gateway/src/test/network/network-bed.ts';
import type { WorkerEngine, WorkerScript } from '../../services/gateway/src/test/network/scripted-worker.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { type Figure, median, quantile, setting, thousands } from '../measure.ts';
import { deltasOf, REQUESTS } from './real-answers.ts';

/** Of each kind of engine. */
const KILLS = setting('KILLS', 5_000);
const SEED = 1;
const MAX_KILLS_OF_AN_ANSWER = 8;
const MAX_TOKENS = 64;
/** One more than are killed of an answer: who lost it is not asked again at once. */
const HOSTS = MAX_KILLS_OF_AN_ANSWER + 1;

interface Tally {
  kills: number;
  /** From each kill until the gateway knew of it, in milliseconds. */
  readonly detectedMs: number[];
  answers: number;
  wrong: number;
}

export async function benchNetworkKills(): Promise<Figure[]> {
  await using bed = await TestNetwork.start(HOSTS);
  const simulated = await killSimulated(bed);
  const real = await killReal(bed);
  const detectedMs = [...simulated.detectedMs, ...real.detectedMs];
  const figure = (what: string, { kills, answers, wrong }: Tally): Figure => [
    `${thousands(kills)} kills in ${thousands(answers)} answers of ${what}`,
    `${wrong} differ`,
    'the same answers undisturbed; goal: none',
  ];
  return [
    figure('a simulated engine', simulated),
    figure('a real model (a schema, the same seeded, a tool, a stop string, log-probabilities)', real),
    [
      'from a kill until the gateway knows of it, p50, p99',
      `${median(detectedMs).toFixed(1)} ms, ${quantile(detectedMs, 0.99).toFixed(1)} ms`,
      'goal: a crash is detected in less than 100 ms',
    ],
  ];
}

async function killSimulated(bed: TestNetwork): Promise<Tally> {
  const random = randomFrom(SEED);
  const model = createSimulatedEngine({ slots: 4 });
  const tally: Tally = { kills: 0, detectedMs: [], answers: 0, wrong: 0 };
  while (tally.kills < KILLS) {
    const count = 1 + Math.floor(random() * MAX_TOKENS);
    const seed = tally.answers;
    const positions = positionsOf(random, count);
    const asked = job({ maxTokens: count, sampling: { ...job().sampling, seed } });
    const { tokens } = await killed(bed, { model, positions, tally }, (engine) => answerOf(engine, asked));
    const truth = simulatedAnswer(PROMPT, { seed, count });
    if (JSON.stringify(tokens) !== JSON.stringify(truth)) tally.wrong += 1;
  }
  return tally;
}

async function killReal(bed: TestNetwork): Promise<Tally> {
  const random = randomFrom(SEED);
  await using model = await startLlamaEngine({ file: tinyChatModel, slots: 2, threads: 1, gpu: false });
  await using vocabulary = await openVocabulary(tinyChatModel);
  const requests = Object.values(REQUESTS).map((request) => ({ max_tokens: MAX_TOKENS, ...request }));
  const undisturbed = await Promise.all(requests.map((request) => deltasOf(model, request)));
  const tally: Tally = { kills: 0, detectedMs: [], answers: 0, wrong: 0 };
  while (tally.kills < KILLS) {
    const which = tally.answers % requests.length;
    const truth = undisturbed[which];
    const positions = positionsOf(random, truth?.tokens ?? 0);
    const made = await killed(bed, { model, vocabulary, positions, tally }, (engine) =>
      deltasOf(engine, requests[which] ?? {}),
    );
    if (JSON.stringify(made) !== JSON.stringify(truth)) tally.wrong += 1;
  }
  return tally;
}

/** One answer over so many workers that each may be killed when it comes to one of the positions. */
async function killed<Answer>(
  bed: TestNetwork,
  {
    model,
    vocabulary,
    positions,
    tally,
  }: { model: WorkerEngine; vocabulary?: OpenedVocabulary; positions: readonly number[]; tally: Tally },
  ask: (engine: Engine) => Promise<Answer>,
): Promise<Answer> {
  await bed.fresh();
  const left = new Set(positions);
  const killedAtMs = new Map<string, number>();
  const script: WorkerScript = {
    send(frame, worker) {
      if (frame.kind !== 'tokens' || !left.delete(frame.position)) return [frame];
      killedAtMs.set(worker.node.id, performance.now());
      worker.kill();
      return [];
    },
  };
  await Promise.all(Array.from({ length: positions.length + 1 }, (_, at) => bed.worker(at, model, script)));
  const own = vocabulary ? { vocabulary } : {};
  await using engine = bed.engine(model.info.sha256, { info: () => model.info as Engine['info'], ...own });
  const answer = await ask(engine);
  tally.kills += bed.fleet.lost.length;
  for (const { peer, atMs } of bed.fleet.lost) tally.detectedMs.push(atMs - (killedAtMs.get(peer) ?? Number.NaN));
  tally.answers += 1;
  if (left.size > 0 || bed.trust.breaches.length > 0) tally.wrong += 1;
  return answer;
}

function positionsOf(random: () => number, tokens: number): readonly number[] {
  const count = 1 + Math.floor(random() * Math.min(MAX_KILLS_OF_AN_ANSWER, tokens));
  return Array.from(new Set(Array.from({ length: count }, () => Math.floor(random() * tokens))));
}
