// Four weeks of the simulated internet, lived through quickly: looked at day by day under a clock that is set back.
import type { StackApp } from '@strata/stack';
import type { Internet } from '@strata/testnet';

const DAY_MS = 86_400_000;
/** Enough days that the last ones can be judged by those before. */
export const PAST_DAYS = 28;
/** Companies looked at a day come round once in so many days, besides those that have just moved. */
const ROUND_DAYS = 25;
/** Two looks a day, hours apart, so that a change of the day is confirmed on it. Times of day, UTC. */
const LOOKS_MS = [8 * 3_600_000, 16 * 3_600_000] as const;
/** Companies that leave one provider on the day before now. */
const EXODUS = 24;

export interface PastWeeks {
  readonly internet: Internet;
  readonly app: StackApp;
  /** Sets the clock that scans go by. */
  readonly setClock: (now: Date) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export async function liveThroughPastWeeks({ internet, app, setClock, say, signal }: PastWeeks): Promise<void> {
  const names = internet.domains();
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  // Companies with silent or broken servers keep a look waiting for seconds: they are looked at first and last only.
  const swift = new Set<string>();
  const look = async (domains: Iterable<string>) => {
    await app.scanner.runAll(domains, {
      onDone: (domain, outcome) => {
        if (outcome.kind !== 'recorded') return;
        if (Object.values(outcome.profile.sources).includes('unmeasured')) swift.delete(domain);
        else swift.add(domain);
      },
      signal,
    });
    await app.updateLoop.now();
  };
  const startedAt = performance.now();
  setClock(new Date(today - PAST_DAYS * DAY_MS + LOOKS_MS[0]));
  await look(names);
  say(`scanned all ${names.length} domains as of ${PAST_DAYS} days ago in ${seconds(startedAt)} s`);

  const sinceAt = performance.now();
  let moves = 0;
  for (let day = PAST_DAYS - 1; day > 0 && !signal.aborted; day -= 1) {
    const moved = internet.advance(1).map(({ domain }) => domain);
    if (day === 1) moved.push(...exodus(internet));
    moves += moved.length;
    const round = names.filter((_, i) => i % ROUND_DAYS === day % ROUND_DAYS);
    const due = new Set([...round, ...moved].filter((domain) => swift.has(domain)));
    for (const time of LOOKS_MS) {
      setClock(new Date(today - day * DAY_MS + time));
      await look(due);
    }
  }
  say(
    `lived through ${PAST_DAYS - 1} days in which companies changed a provider ${moves} times, in ${seconds(sinceAt)} s`,
  );

  const lastAt = performance.now();
  setClock(new Date());
  await look(names);
  say(`scanned all ${names.length} domains as of now in ${seconds(lastAt)} s`);
}

/** Makes companies leave the largest name server operator that is not too large, all on one day: something to be alerted to. */
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
