// Questions over HTTP: how long the first of a kind takes, and how long answers take when it is asked again and again.
import { httpLoad } from '../http-load.ts';
import { collectGarbage, type Figure, median, perSecond, setting, timed } from '../measure.ts';
import type { Questions } from './sets-questions.ts';

const SECONDS = setting('SECONDS', 2);
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
    const times: number[] = [];
    for (const question of each) times.push((await timed(() => ask(asked, question))).seconds * 1_000);
    const worst = Math.max(...times);
    figures.push([
      `${asked.size}: ${kind}, first time`,
      `median ${median(times).toFixed(1)} ms, worst of ${times.length} ${worst.toFixed(1)} ms (${each[times.indexOf(worst)]})`,
      `goal: < ${GOAL_MS} ms${worst < GOAL_MS ? '' : ', missed'}`,
    ]);
  }
  return figures;
}

/** The first question of each kind, over connections that each wait for their answer. */
export async function askAgain({ base, key, size }: Asked, questions: Questions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, [question = '']] of Object.entries(questions)) {
    const url = `${base}/stack/v1/${question}`;
    const load = { url, headers: { 'x-stack-key': key }, connections: CONNECTIONS, duration: SECONDS };
    const { rate, times } = await httpLoad(load);
    const p50 = median(times);
    const verdict = `goal: p50 < 1 ms${p50 < 1 ? '' : ', missed'}`;
    figures.push([`${size}: ${kind}, asked again`, `${perSecond(rate)}, p50 ${p50.toFixed(2)} ms`, verdict]);
  }
  return figures;
}

async function ask({ base, key }: Asked, question: string): Promise<void> {
  const response = await fetch(`${base}/stack/v1/${question}`, { headers: { 'x-stack-key': key } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${question}: ${response.status}`);
}
