// What a node reports at its metrics port, and to the process that started it.
import { once } from 'node:events';
import type { NodeUse } from '../load/node-process.ts';
import type { Child } from '../measure.ts';

const TIMEOUT_MS = 120_000;

/** Figures by name; those of one name that differ by labels are added up. */
export async function scrape(metricsPort: number): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const figures = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const found = /^([a-z_0-9]+)(?:\{[^}]*\})? (\S+)/.exec(line);
    if (found?.[1]) figures.set(found[1], (figures.get(found[1]) ?? 0) + Number(found[2]));
  }
  return figures;
}

/** `live`: after the garbage was collected. */
export async function useOf({ process }: Child<unknown>, what: 'use' | 'live' = 'use'): Promise<NodeUse> {
  const reported = once(process, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.send(what);
  return (await reported)[0] as NodeUse;
}
