// What a node reports at its metrics port.

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
