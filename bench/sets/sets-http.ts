// Questions over HTTP: how long the first of a kind takes, and how many a second when it is asked again and again.
import autocannon from 'autocannon';
import { collectGarbage, type Figure, median, perSecond, quantile } from '../measure.ts';
import type { Questions } from './sets-questions.ts';

const SECONDS = 2;
const CONNECTIONS = 8;
const GOAL_MS = 30;

export interface Asked {
  readonly base: string;
  readonly key: string;
  /** For the figures: how many domains. */
  readonly size: string;
}

/** The connection and the code that all questions share are warm after it, the asker's too: it is not what is measured. */
export async function warmUp(asked: Asked): Promise<void> {
  for (let i = 0; i < 20; i += 1) await (await fetch(`${asked.base}/openapi.json`)).arrayBuffer();
  for (let i = 0; i < 20; i += 1) await ask(asked, `search?q=w${i}`);
  collectGarbage();
}

/** Each question once, never asked before: computed, signed and logged. */
export async function askFirst(asked: Asked, questions: Questions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, each] of Object.entries(questions)) {
    const times: { readonly question: string; readonly ms: number }[] = [];
    for (const question of each) times.push({ question, ms: await ask(asked, question) });
    const [worst] = times.toSorted((a, b) => b.ms - a.ms);
    if (!worst) continue;
    const half = median(times.map(({ ms }) => ms));
    figures.push({
      what: `${asked.size}: ${kind}, first time`,
      value:
        times.length === 1
          ? `${half.toFixed(1)} ms`
          : `median ${half.toFixed(1)} ms, worst of ${times.length} ${worst.ms.toFixed(1)} ms (${worst.question})`,
      against: `goal: < ${GOAL_MS} ms${worst.ms < GOAL_MS ? '' : ', missed'}`,
    });
  }
  return figures;
}

/** The first question of each kind, over connections that each wait for their answer. */
export async function askAgain({ base, key, size }: Asked, questions: Questions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, [question = '']] of Object.entries(questions)) {
    const times: number[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
    const run = autocannon(
      {
        url: `${base}/stack/v1/${question}`,
        headers: { 'x-stack-key': key },
        connections: CONNECTIONS,
        duration: SECONDS,
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
    // Its own histogram counts in milliseconds.
    run.on('response', (_client, _status, _bytes, ms) => times.push(ms));
    const result = await promise;
    if (result.non2xx > 0) throw new Error(`${question}: ${result.non2xx} refused`);
    const p50 = quantile(times, 0.5);
    figures.push({
      what: `${size}: ${kind}, asked again`,
      value: `${perSecond(result.requests.average)}, p50 ${p50.toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`,
      against: `goal: p50 < 1 ms${p50 < 1 ? '' : ', missed'}`,
    });
  }
  return figures;
}

async function ask({ base, key }: Asked, question: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${base}/stack/v1/${question}`, { headers: { 'x-stack-key': key } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${question}: ${response.status}`);
  return performance.now() - startedAt;
}
