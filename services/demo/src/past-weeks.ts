// Simulates the past four weeks of the internet: scans each day with a clock that is set back.
import type { RunningStack, ScanOutcome } from '@strata/stack';
import type { Internet, Truth } from '@strata/testnet';

const DAY_MS = 86_400_000;
/** Enough days for anomaly detection on the last ones. */
export const PAST_DAYS = 28;
/** Each company is scanned once in this number of days, and in addition after a migration. */
const SCAN_CYCLE_DAYS = 25;
/** Times of day, UTC, of two scans, hours apart, so that a change is confirmed on the same day. */
const SCAN_TIMES_MS = [8 * 3_600_000, 16 * 3_600_000] as const;
/** Repeated scans run a few at a time, so that each is fast enough. */
const REPEATED_AT_ONCE = 8;
/** Companies that leave one provider on one day: an anomaly, for which two weeks before it are needed. */
const EXODUS = { companies: 20, daysAgo: 9 } as const;

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
  const scan = async (domains: Iterable<string>): Promise<Map<string, Gap>> => {
    const gaps = new Map<string, Gap>();
    const onDone = (domain: string, outcome: ScanOutcome) => {
      const gap = gapOf(outcome);
      if (gap) gaps.set(domain, gap);
      else responsive.add(domain);
    };
    await running.app.scanner.runAll(domains, { onDone, signal });
    await running.updateLoop.run();
    return gaps;
  };
  /** Repeats, few at a time, what a busy machine let time out: what the internet breaks on purpose stays broken. */
  const scanAll = async (when: string) => {
    const startedAt = performance.now();
    const gaps = await scan(names);
    const repeatable = () => [...gaps.keys()].filter((domain) => !isBroken(internet.truth(domain)));
    for (let before = Number.POSITIVE_INFINITY; repeatable().length < before && !signal.aborted; ) {
      const repeated = repeatable();
      before = repeated.length;
      for (let i = 0; i < repeated.length; i += REPEATED_AT_ONCE) {
        const domains = repeated.slice(i, i + REPEATED_AT_ONCE);
        const again = await scan(domains);
        for (const domain of domains) if (!again.has(domain)) gaps.delete(domain);
      }
    }
    print(`${resultOf(names.length, gaps.values())} as of ${when}, in ${seconds(startedAt)} s`);
  };
  setClock(new Date(today - PAST_DAYS * DAY_MS + SCAN_TIMES_MS[0]));
  await scanAll(`${PAST_DAYS} days ago`);

  const sinceAt = performance.now();
  let moves = 0;
  for (let day = PAST_DAYS - 1; day > 0 && !signal.aborted; day -= 1) {
    const moved = internet.advance(1).map(({ domain }) => domain);
    if (day === EXODUS.daysAgo) moved.push(...exodus(internet, responsive));
    moves += moved.length;
    const scheduled = names.filter((_, i) => i % SCAN_CYCLE_DAYS === day % SCAN_CYCLE_DAYS);
    const due = new Set([...scheduled, ...moved].filter((domain) => responsive.has(domain)));
    for (const time of SCAN_TIMES_MS) {
      setClock(new Date(today - day * DAY_MS + time));
      await scan(due);
    }
  }
  print(`simulated ${PAST_DAYS - 1} days with ${moves} provider changes in ${seconds(sinceAt)} s`);

  setClock(new Date());
  await scanAll('now');
}

/** Why a scan did not measure everything. */
type Gap =
  | 'without an answer from their name servers'
  | 'without SPF or DMARC'
  | 'without some records or their site'
  | 'with an internal error';

function gapOf(outcome: ScanOutcome): Gap | undefined {
  if (outcome.kind !== 'recorded') return 'with an internal error';
  const { state, security, sources } = outcome.profile;
  if (state === 'unmeasured') return 'without an answer from their name servers';
  if (state === 'nonexistent') return undefined;
  if (security.score === null) return 'without SPF or DMARC';
  return Object.values(sources).includes('unmeasured') ? 'without some records or their site' : undefined;
}

/** Whether a complete scan is impossible, because the company's servers or signatures are broken. */
const isBroken = ({ state, situations }: Truth): boolean =>
  state === 'broken' || situations.some((each) => /^(?:DNSSEC broken|site (?:wall|refused|reset|slow))$/.test(each));

/** `scanned 500 domains, 471 completely (17 without some records or their site, 12 …)`. */
function resultOf(total: number, gaps: Iterable<Gap>): string {
  const counts = Object.entries(Object.groupBy(gaps, (gap) => gap)).map(
    ([gap, each]) => [gap, each?.length ?? 0] as const,
  );
  const incomplete = counts.reduce((sum, [, count]) => sum + count, 0);
  if (incomplete === 0) return `scanned all ${total} domains completely`;
  const reasons = counts.sort((a, b) => b[1] - a[1]).map(([gap, count]) => `${count} ${gap}`);
  return `scanned ${total} domains, ${total - incomplete} completely (${reasons.join(', ')})`;
}

/** Migrates companies from a large, but not too large, name server operator on one day, which raises an alert. */
function exodus(internet: Internet, responsive: ReadonlySet<string>): string[] {
  const byProvider = new Map<string, string[]>();
  for (const domain of responsive) {
    const { state, services } = internet.truth(domain);
    const [dns, other] = services.filter(({ category, isVisible }) => category === 'dns' && isVisible);
    if (state === 'active' && dns && !other)
      byProvider.set(dns.provider, [...(byProvider.get(dns.provider) ?? []), domain]);
  }
  const [from] = [...byProvider]
    .filter(([, domains]) => domains.length <= EXODUS.companies * 5)
    .sort((a, b) => b[1].length - a[1].length);
  if (!from) return [];
  const [provider, domains] = from;
  const to = provider === 'ns1' ? 'dnsimple' : 'ns1';
  const leaving = domains.slice(0, EXODUS.companies);
  for (const domain of leaving) internet.migrate(domain, { category: 'dns', to });
  return leaving;
}

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);
