// A model whose tokens are truly drawn: logits follow from all before them, draws and margins are the product's own.
import { type Candidate, chooseToken, GREEDY, marginOf, type Sampling } from '@strata/inference';
import type { WorkerSession } from '../../network/worker-session.ts';
import { seeded } from './audited-network.ts';

const TOKENS = 24;

/** What a worker with this model gives when it draws so. */
export function drawnAnswer(prompt: readonly number[], sampling: Sampling, count: number): readonly number[] {
  const answer: number[] = [];
  for (let position = 0; position < count; position += 1) {
    const token = chooseToken(candidatesAfter([...prompt, ...answer]), sampling, { position, given: new Map() });
    answer.push(token as number);
  }
  return answer;
}

/** As an honest worker with this model scores; it ends where it is said to end. */
export const drawingScore: WorkerSession['score'] = async ({ prompt, answer, hasEnd, sampling }) => {
  const asked: Sampling = { ...GREEDY, temperature: sampling.temperature, seed: sampling.seed };
  const margins = answer.map((token, position) =>
    marginOf(token, candidatesAfter([...prompt, ...answer.slice(0, position)]), {
      sampling: asked,
      step: { position, given: new Map() },
    }),
  );
  return hasEnd ? [...margins, 0] : margins;
};

function candidatesAfter(before: readonly number[]): readonly Candidate[] {
  const random = seeded(before.reduce((hash, token) => (hash * 31 + token + 1) % 0x7ffffff, 7) + 1);
  return Array.from({ length: TOKENS }, (_, token) => ({ token, logit: 6 * random() }));
}
