// Ten thousand kills at random positions of answers: of a simulated engine, where every token depends on all before it, and of a real one
// that holds to a schema, calls a tool or stops at a string. Nothing may be lost or repeated.
import { type Engine, startLlamaEngine } from '@strata/engine';
import { type ChatDelta, readChatRequest } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer, tinyChatModel } from '@strata/testnet';
import { EngineBackend } from '../services/gateway/src/engine-backend.ts';
import { answerOf, job, NEVER, PROMPT } from '../services/gateway/src/test/network/answers.ts';
import { NetworkBed } from '../services/gateway/src/test/network/network-bed.ts';
import type { WorkerEngine, WorkerScript } from '../services/gateway/src/test/network/scripted-worker.ts';
import type { Figure } from './main.ts';
import { perSecond } from './measure.ts';

/** STRATA_BENCH_KILLS: of each kind of engine. */
const KILLS = Number(process.env.STRATA_BENCH_KILLS || 5_000);
const SEED = 1;
const MOST_KILLS_OF_AN_ANSWER = 8;
const MOST_TOKENS = 64;
/** One more than are killed of an answer: who lost it is not asked again at once. */
const HOSTS = MOST_KILLS_OF_AN_ANSWER + 1;

interface Tally {
  kills: number;
  answers: number;
  wrong: number;
}

export async function benchNetworkKills(): Promise<Figure[]> {
  await using bed = await NetworkBed.start(HOSTS);
  const startedAt = performance.now();
  const simulated = await killSimulated(bed);
  const real = await killReal(bed);
  const kills = simulated.kills + real.kills;
  const figure = (what: string, { kills: count, answers, wrong }: Tally): Figure => ({
    what: `${count.toLocaleString('en-US')} kills in ${answers.toLocaleString('en-US')} answers of ${what}`,
    value: `${wrong} differ`,
    against: 'the same answers undisturbed; goal: none',
  });
  return [
    figure('a simulated engine', simulated),
    figure('a real model (a schema, the same seeded, a tool, a stop string)', real),
    { what: 'kills', value: perSecond((kills * 1_000) / (performance.now() - startedAt)), against: '' },
  ];
}

async function killSimulated(bed: NetworkBed): Promise<Tally> {
  const random = randomOf(SEED);
  const model = createSimulatedEngine({ slots: 4 });
  const tally: Tally = { kills: 0, answers: 0, wrong: 0 };
  while (tally.kills < KILLS) {
    const count = 1 + Math.floor(random() * MOST_TOKENS);
    const seed = tally.answers;
    const positions = positionsOf(random, count);
    const asked = job({ maxTokens: count, sampling: { ...job().sampling, seed } });
    const { tokens } = await killed(bed, { model, positions, tally }, (engine) => answerOf(engine, asked));
    const truth = simulatedAnswer(PROMPT, { seed, count });
    if (JSON.stringify(tokens) !== JSON.stringify(truth)) tally.wrong += 1;
  }
  return tally;
}

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 10 },
    kind: { enum: ['mail', 'dns', 'web'] },
    counts: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 99 }, minItems: 2, maxItems: 3 },
  },
  required: ['name', 'kind', 'counts'],
  additionalProperties: false,
};
const FORMAT = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } };
const TOOL = { type: 'function', function: { name: 'look_up', parameters: SCHEMA } };
const REQUESTS: readonly object[] = [
  FORMAT,
  { ...FORMAT, temperature: 1, seed: 42 },
  { tools: [TOOL], tool_choice: 'required' },
  { stop: ['fails SPF'] },
];

async function killReal(bed: NetworkBed): Promise<Tally> {
  const random = randomOf(SEED);
  await using model = await startLlamaEngine({ file: tinyChatModel, slots: 2, threads: 1, gpu: false });
  const undisturbed = await Promise.all(REQUESTS.map((request) => toldOf(model, request)));
  const tally: Tally = { kills: 0, answers: 0, wrong: 0 };
  while (tally.kills < KILLS) {
    const which = tally.answers % REQUESTS.length;
    const truth = undisturbed[which];
    const positions = positionsOf(random, truth?.tokens ?? 0);
    const told = await killed(bed, { model, positions, tally }, (engine) => toldOf(engine, REQUESTS[which] ?? {}));
    if (JSON.stringify(told) !== JSON.stringify(truth)) tally.wrong += 1;
  }
  return tally;
}

/** One answer over so many workers that each may be killed when it comes to one of the positions. */
async function killed<Answer>(
  bed: NetworkBed,
  { model, positions, tally }: { model: WorkerEngine & Partial<Engine>; positions: readonly number[]; tally: Tally },
  ask: (engine: Engine) => Promise<Answer>,
): Promise<Answer> {
  await bed.fresh();
  const left = new Set(positions);
  const script: WorkerScript = {
    say(frame, worker) {
      if (frame.kind !== 'tokens' || !left.delete(frame.position)) return [frame];
      worker.kill();
      return [];
    },
  };
  await Promise.all(Array.from({ length: positions.length + 1 }, (_, at) => bed.worker(at, model, script)));
  const own = 'render' in model ? { vocabulary: model as Engine } : {};
  await using engine = bed.engine(model.info.sha256, { info: () => model.info as Engine['info'], ...own });
  const answer = await ask(engine);
  tally.kills += bed.fleet.lost.length;
  tally.answers += 1;
  if (left.size > 0 || bed.trust.breaches.length > 0) tally.wrong += 1;
  return answer;
}

/** What a client would see; ids of calls are drawn anew each time, and text comes in pieces of any size. */
async function toldOf(engine: Engine, more: object) {
  const messages = [{ role: 'user', content: 'What is DMARC?' }];
  const plan = await new EngineBackend(engine).planChat(
    readChatRequest({ model: 'm', messages, temperature: 0, max_tokens: MOST_TOKENS, ...more }),
  );
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const told: ChatDelta[] = [];
  for await (const delta of plan.choices[0]?.deltas({ usage, context: {}, signal: NEVER }) ?? [])
    told.push('id' in delta ? { ...delta, id: 'call' } : delta);
  return { told, tokens: usage.completionTokens };
}

function positionsOf(random: () => number, tokens: number): readonly number[] {
  const count = 1 + Math.floor(random() * Math.min(MOST_KILLS_OF_AN_ANSWER, tokens));
  return Array.from(new Set(Array.from({ length: count }, () => Math.floor(random() * tokens))));
}

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
