// Simulates the past four weeks of the internet: scans each day with a clock that is set back.
import type { RunningStack } from '@strata/stack';
import type { Internet } from '@strata/testnet';

const DAY_MS = 86_400_000;
/** Enough days for anomaly detection on the last ones. */
export const PAST_DAYS = 28;
/** Each company is scanned once in this number of days, and in addition after a migration. */
const SCAN_CYCLE_DAYS = 25;
/** Times of day, UTC, of two scans, hours apart, so that a change is confirmed on the same day. */
const SCAN_TIMES_MS = [8 * 3_600_000, 16 * 3_600_000] as const;
/** Companies that leave one provider on the last day. */
const EXODUS = 24;

export interface PastWeeksDeps {
  readonly internet: Internet;
  readonly running: RunningStack;
  /** Sets the clock of scans. */
  readonly setClock: (now: Date) => void;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

export async function simulatePastWeeks({ internet, running, setClock, print, signal }: PastWeeksDeps): Promise<void> {
  const names = internet.domains();
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  // Companies with unresponsive or broken servers delay a scan by seconds. They are scanned only first and last.
  const responsive = new Set<string>();
  const scan = async (domains: Iterable<string>) => {
    await running.app.scanner.runAll(domains, {
      onDone: (domain, outcome) => {
        if (outcome.kind !== 'recorded') return;
        if (Object.values(outcome.profile.sources).includes('unmeasured')) responsive.delete(domain);
        else responsive.add(domain);
      },
      signal,
    });
    await running.updateLoop.run();
  };
  const startedAt = performance.now();
  setClock(new Date(today - PAST_DAYS * DAY_MS + SCAN_TIMES_MS[0]));
  await scan(names);
  print(`scanned all ${names.length} domains as of ${PAST_DAYS} days ago in ${seconds(startedAt)} s`);

  const sinceAt = performance.now();
  let moves = 0;
  for (let day = PAST_DAYS - 1; day > 0 && !signal.aborted; day -= 1) {
    const moved = internet.advance(1).map(({ domain }) => domain);
    if (day === 1) moved.push(...exodus(internet));
    moves += moved.length;
    const scheduled = names.filter((_, i) => i % SCAN_CYCLE_DAYS === day % SCAN_CYCLE_DAYS);
    const due = new Set([...scheduled, ...moved].filter((domain) => responsive.has(domain)));
    for (const time of SCAN_TIMES_MS) {
      setClock(new Date(today - day * DAY_MS + time));
      await scan(due);
    }
  }
  print(`simulated ${PAST_DAYS - 1} days with ${moves} provider changes in ${seconds(sinceAt)} s`);

  const lastAt = performance.now();
  setClock(new Date());
  await scan(names);
  print(`scanned all ${names.length} domains as of now in ${seconds(lastAt)} s`);
}

/** Migrates companies from a large, but not too large, name server operator on one day, which raises an alert. */
function exodus(internet: Internet): string[] {
  const byProvider = new Map<string, string[]>();
  for (const domain of internet.domains()) {
    const { state, services } = internet.truth(domain);
    const [dns, other] = services.filter(({ category, isVisible }) => category === 'dns' && isVisible);
    if (state === 'active' && dns && !other)
      byProvider.set(dns.provider, [...(byProvider.get(dns.provider) ?? []), domain]);
  }
  const [from] = [...byProvider]
    .filter(([, domains]) => domains.length <= EXODUS * 5)
    .sort((a, b) => b[1].length - a[1].length);
  if (!from) return [];
  const [provider, domains] = from;
  const to = provider === 'ns1' ? 'dnsimple' : 'ns1';
  const leaving = domains.slice(0, EXODUS);
  for (const domain of leaving) internet.migrate(domain, { category: 'dns', to });
  return leaving;
}

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);
