// Fifty days of a simulated internet under a clock of its own, recorded by the real service, and its database to count in. Opened once
// for all test files.
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInternet } from '@strata/testnet';
import { shared } from '../../../../tests/support/shared.ts';
import { startHarness } from './harness.ts';
import { evidenceAt, HOUR_MS, recordScan } from './recorded-scans.ts';

export type Row = Record<string, number | string | null>;
export const DAY_MS = 24 * HOUR_MS;
export const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Ten in the morning, UTC, of the day on which every company is scanned for the first time. */
const BEGIN = Date.parse('2026-03-02T10:00:00Z');

/**
 * When companies that moved are scanned, in days after the beginning. Each pair of scans confirms what moved before it; the last
 * pair has midnight in between. Those of day 20 lie within 30 × 24 hours of the end and not within its last 30 days.
 */
const SCAN_DAYS = [
  [5, 5.4],
  [20.2, 20.5],
  [45, 45.4],
  [49.55, 49.85],
] as const;
/** Enough days for about a fifth of the companies to move. */
const DAYS_PER_PAIR = 45;
const END = BEGIN + 50 * DAY_MS;

/** Never scanned again. They make the market of DNS large enough for a band, above 200, and no other; some are in another alone. */
const RECORDED = Array.from({ length: 150 }, (_, i) => ({
  ...{ domain: `recorded-${i}.com`, a: [{ address: '192.0.2.1' }] },
  ...(i % 10 === 0
    ? { ns: [`ns1.recorded-${i}.com`], mx: [{ preference: 1, exchange: 'aspmx.l.google.com' }] }
    : { ns: [i % 4 === 0 ? 'dns1.p01.nsone.net' : 'ada.ns.cloudflare.com'] }),
}));

/** A few companies cannot be asked for their mail at the end. */
export const sharedTimeline = shared(async () => {
  await using stack = new AsyncDisposableStack();
  const internet = stack.use(await createInternet({ domains: 90, hasFaults: false }));
  let now = BEGIN;
  const service = stack.use(await startHarness({ internet, world: { now: () => new Date(now) } }));
  await service.scan(...internet.domains());
  const { app, updateLoop } = service.running;
  for (const each of RECORDED) await recordScan(app.store, evidenceAt(each, now));
  for (const pair of SCAN_DAYS) {
    const moved = [...new Set(internet.advance(DAYS_PER_PAIR).map(({ domain }) => domain))];
    for (const days of pair) {
      now = BEGIN + days * DAY_MS;
      await service.scan(...moved);
      await updateLoop.run();
    }
  }
  now = END - HOUR_MS;
  const silent = internet.domains().slice(0, 4);
  for (const domain of silent) internet.fail(domain, { type: 'MX', status: 'servfail' });
  await service.scan(...silent);
  now = END;
  await updateLoop.run();

  const database = new DatabaseSync(path.join(service.directory, 'strata.db'), { readOnly: true });
  stack.defer(() => database.close());
  const names = [...internet.domains(), ...RECORDED.map(({ domain }) => domain)];
  const found = await Promise.all(names.map((name) => app.store.domains.profile(name)));
  const profiles = found.filter((profile) => profile !== undefined);
  const used = profiles.flatMap(({ services }) => [...new Set(services.map(({ provider }) => provider))]);
  const sql = (query: string, ...values: (string | number)[]) => database.prepare(query).all(...values) as Row[];
  const ask = async (target: string) => {
    const answer = await service.get(`/stack/v1/${target}`);
    if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  };
  return Object.assign(stack.move(), {
    ...{ internet, service, begin: BEGIN, end: END, profiles, sql },
    live: () => profiles.filter(({ state }) => state === 'active' || state === 'parked'),
    users: (id: string) => profiles.filter(({ services }) => services.some(({ provider }) => provider === id)),
    /** Providers in use, the most used first. */
    inUse: [...Map.groupBy(used, (id) => id)].sort(([, a], [, b]) => b.length - a.length).map(([id]) => id),
    /** The only value of the first row. */
    value: (...query: Parameters<typeof sql>) => Number(Object.values(sql(...query)[0] ?? {})[0]),
    /** The body of a 200 under /stack/v1. */
    // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies whose shape is what they test
    get: async (target: string): Promise<any> => (await ask(target)).body,
    /** Rows of an export below its header; no cell of the simulated internet needs quotes. */
    async rows(target: string) {
      const lines = (await ask(target)).text.split('\r\n');
      return lines.slice(1, -1).map((line) => line.split(','));
    },
    /** The service again, after so many more days in which nothing happened. */
    async sleep(days: number) {
      now += days * DAY_MS;
      await service.restart();
    },
  });
});
