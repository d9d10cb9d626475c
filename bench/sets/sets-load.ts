// Writes a loaded world straight into a fresh SQLite file of the store: millions of rows, without the scans that would make them.
import { DatabaseSync } from 'node:sqlite';
import type { Rulebook } from '@strata/detect';
import { openStore, type Store } from '@strata/stack/store';
import type { LoadedWorld } from '@strata/testnet';
import { summaries } from './sets-summary.ts';

const ROWS_AT_ONCE = 100;
const DOMAINS_A_TRANSACTION = 20_000;

export async function loadStore(file: string, world: LoadedWorld, rulebook: Rulebook): Promise<void> {
  await (await openStore(`sqlite:${file}`))[Symbol.asyncDispose]();
  using database = new DatabaseSync(file);
  database.exec(
    'PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA cache_size = -524288; PRAGMA foreign_keys = OFF',
  );
  const indexes = database
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('services', 'changes', 'scans', 'domains')",
    )
    .all() as { name: string; sql: string }[];
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  const summaryOf = summaries(rulebook);
  const domains = inserter(
    database,
    'domains (id, name, source, created_at, next_due_at, last_scanned_at, state, sector, rulebook, summary, measured, posture_bits, holder_bits, score)',
  );
  const services = inserter(
    database,
    'services (domain_id, category, role, provider, confidence, score, evidence, status, valid_from)',
  );
  const changes = inserter(
    database,
    'changes (domain_id, scan_id, at, confirmed_at, category, role, type, from_provider, to_provider, confidence, importance, is_entry, is_exit)',
  );
  const scans = inserter(
    database,
    'scans (domain_id, state, rulebook, services, unmeasured, started_at, finished_at, observed_at, records)',
  );
  const all = [domains, services, changes, scans];
  // The log is in the order of confirmation, as in a database that grew.
  const pending: (readonly [confirmedAt: number, row: readonly Value[]])[] = [];
  const { version } = rulebook;
  database.exec('BEGIN');
  for (const domain of world.domains()) {
    const { id, name, scannedAt, earlierScanAt, state, sector, posture, holders, score } = domain;
    const times = [scannedAt, scannedAt + 86_400_000, scannedAt];
    const summary = summaryOf(posture, score);
    domains.add([id, name, 'loaded', ...times, state, sector, version, summary, '', posture, holders, score]);
    for (const at of [earlierScanAt, scannedAt])
      scans.add([id, state, version, domain.services.length, '', at, at, at, 20]);
    for (const { category, role, provider, confidence, validFrom } of domain.services)
      services.add([id, category, role, provider, confidence, 0.9, '[]', 'confirmed', validFrom]);
    for (const { at, confirmedAt, category, role, type, from, to, isEntry, isExit } of domain.changes) {
      const flags = [Number(isEntry), Number(isExit)];
      // Every domain has two scans, one after the other.
      const row = [id, id * 2, at, confirmedAt, category, role, type, from, to, 'high', 'medium', ...flags];
      pending.push([confirmedAt, row]);
    }
    if (id % DOMAINS_A_TRANSACTION === 0) {
      for (const each of all) each.flush();
      database.exec('COMMIT; BEGIN');
    }
  }
  pending.sort(([a], [b]) => a - b);
  for (const [, row] of pending) changes.add(row);
  for (const each of all) each.flush();
  database.exec('COMMIT');
  for (const { sql } of indexes) database.exec(sql);
  database.exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
}

type Value = string | number | null;

/** `table` names the table and its columns. */
function inserter(database: DatabaseSync, table: string) {
  const columns = table.split(',').length;
  const row = `(${Array(columns).fill('?').join(', ')})`;
  const insert = (rows: number) => database.prepare(`INSERT INTO ${table} VALUES ${Array(rows).fill(row).join(', ')}`);
  const many = insert(ROWS_AT_ONCE);
  const one = insert(1);
  let waiting: Value[] = [];
  return {
    add(values: readonly Value[]) {
      waiting.push(...values);
      if (waiting.length < ROWS_AT_ONCE * columns) return;
      many.run(...waiting);
      waiting = [];
    },
    flush() {
      for (let at = 0; at < waiting.length; at += columns) one.run(...waiting.slice(at, at + columns));
      waiting = [];
    },
  };
}

/** The providers of a loaded world as entries of a catalog. */
export function catalogOf(world: LoadedWorld): readonly unknown[] {
  return world.providers.map(({ id, name, owner, categories }) => ({
    id,
    name,
    owner,
    website: `https://${id}.example`,
    rules: categories.map((category, i) => ({ category, ns: [`ns${i}.${id}.example`] })),
  }));
}

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 28;

/** As many of each as asked for, half of the anomalies of providers and half of the named domains, a day apart. */
export async function loadSignals(
  store: Store,
  { names, count, endsAt }: { readonly names: readonly string[]; readonly count: number; readonly endsAt: number },
): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const at = new Date(endsAt - Math.floor((i * 300) / count + 1) * DAY_MS - i);
    const domain = names[i % names.length] ?? '';
    const provider = `provider-${String((i % 500) + 1).padStart(4, '0')}`;
    const isProvider = i % 2 === 0;
    await store.signals.addAnomaly({
      id: `an_loaded_${i}`,
      at,
      subjectKind: isProvider ? 'provider' : 'domain',
      subject: isProvider ? provider : domain,
      metric: isProvider ? 'losses' : 'changes',
      severity: 'medium',
      facts: {
        value: 40,
        mean: 4.5,
        stddev: 2.1,
        sigma: 16.9,
        direction: 'up',
        window_days: WINDOW_DAYS,
        samples: WINDOW_DAYS,
        chance: 1e-9,
      },
    });
    await store.signals.addAlert(
      {
        id: `al_loaded_${i}`,
        at,
        kind: isProvider ? 'anomaly' : 'security',
        severity: isProvider ? 'medium' : 'high',
        subject: `loaded ${i}`,
        domain: isProvider ? null : domain,
        provider: isProvider ? provider : null,
        title: `Loaded alert ${i}`,
        detail:
          'A placeholder as long as a real alert, so that a list of these costs what a list of real alerts costs.',
        ref: isProvider ? `/stack/v1/providers/${provider}` : `/stack/v1/domains/${domain}`,
      },
      { quietMs: 0 },
    );
  }
}
