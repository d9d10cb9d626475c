// The summary of a scan: counted while the scan runs, printed at its end.
import { CATEGORIES, type Rulebook } from '@strata/detect';
import type { ScanOutcome } from '@strata/stack';
import type { OutputStream } from '../../context.ts';
import { counted, printJson, printTable } from '../../output.ts';

export class ScanCounts {
  scanned = 0;
  failed = 0;
  changes = 0;
  readonly states = new Map<string, number>();
  readonly byCategory = new Map<string, { domains: number; providers: Map<string, number> }>();

  add(outcome: ScanOutcome): void {
    this.scanned += 1;
    if (outcome.kind !== 'recorded') {
      if (outcome.kind === 'failed') this.failed += 1;
      this.states.set(outcome.kind, (this.states.get(outcome.kind) ?? 0) + 1);
      return;
    }
    const { profile, recorded } = outcome;
    this.changes += recorded.changes.length;
    this.states.set(profile.state, (this.states.get(profile.state) ?? 0) + 1);
    for (const category of new Set(profile.services.map((service) => service.category))) {
      const entry = this.byCategory.get(category) ?? { domains: 0, providers: new Map<string, number>() };
      this.byCategory.set(category, entry);
      entry.domains += 1;
      for (const { provider } of profile.services.filter((service) => service.category === category)) {
        entry.providers.set(provider, (entry.providers.get(provider) ?? 0) + 1);
      }
    }
  }

  /** Whether every domain that was to be measured is unmeasured. */
  get isAllUnmeasured(): boolean {
    const count = (state: string) => this.states.get(state) ?? 0;
    const unmeasured = count('unmeasured');
    return unmeasured > 0 && unmeasured + count('opted-out') + this.failed === this.scanned;
  }
}

/** Prints a line and a table, or one JSON value. */
export function printSummary(
  stdout: OutputStream,
  counts: ScanCounts,
  { seconds, json, rulebook }: { seconds: number; json: boolean; rulebook: Rulebook },
): void {
  const rate = counts.scanned / Math.max(seconds, 0.001);
  const top = (providers: ReadonlyMap<string, number>) =>
    [...providers].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const name = (id: string) => rulebook.providers.get(id)?.name ?? id;
  if (json) {
    printJson(stdout, {
      scanned: counts.scanned,
      seconds: Number(seconds.toFixed(3)),
      domains_per_second: Number(rate.toFixed(1)),
      states: Object.fromEntries(counts.states),
      changes: counts.changes,
      categories: CATEGORIES.flatMap((category) => {
        const entry = counts.byCategory.get(category);
        if (!entry) return [];
        const providers = top(entry.providers).map(([id, domains]) => ({
          provider: name(id),
          provider_id: id,
          domains,
        }));
        return [{ category, domains: entry.domains, providers }];
      }),
    });
    return;
  }
  const states = [...counts.states].map(([state, count]) => `${count} ${state}`).join(', ');
  const duration = `in ${seconds.toFixed(1)} s (${rate.toFixed(0)}/s)`;
  stdout.write(
    `${counted(counts.scanned, 'domain')} ${duration}: ${states || 'none'}; ${counted(counts.changes, 'change')}\n\n`,
  );
  const rows = CATEGORIES.flatMap((category) => {
    const entry = counts.byCategory.get(category);
    if (!entry) return [];
    const leaders = top(entry.providers)
      .slice(0, 3)
      .map(([id, count]) => `${name(id)} ${count}`);
    return [[category, String(entry.domains), leaders.join(', ')]];
  });
  if (rows.length > 0) printTable(stdout, ['category', 'domains', 'most frequent'], rows);
}
