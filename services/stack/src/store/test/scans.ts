// Scans for tests: of a domain whose mail goes somewhere, with other records or another home page.

import type { DayOfChanges, IndexedDomain, IndexedMigration } from '@strata/analytics';
import { detect, type Evidence, evidenceFromRecord, type Rulebook } from '@strata/detect';
import { probedDns, rulebook } from '../../../../../tests/support/rulebook.ts';
import type { FeedDay, FeedReader, ScanRecord, Store } from '../index.ts';

export const HOUR = 3_600_000;
export const confirm = { confirmAfterMs: 6 * HOUR } as const;

/** Records a single scan. */
export async function recordScan(store: Pick<Store, 'recordScans'>, ...[scan, options]: Recorded) {
  const [result] = await store.recordScans([scan], options);
  if (result?.status !== 'fulfilled') throw result?.reason;
  return result.value;
}
type Recorded = [scan: ScanRecord, options: Parameters<Store['recordScans']>[1]];

/** A scan of a domain whose mail goes to `exchange`; `null` is a look-up that failed. */
export function scanOf(domain: string, at: string, exchange: string | null, rules: Rulebook = rulebook): ScanRecord {
  const mx = [{ preference: 1, exchange: exchange ?? 'none.example' }];
  const txt = ['google-site-verification=x'];
  const base = evidenceFromRecord({ domain, ns: ['ada.ns.cloudflare.com'], txt, mx });
  const failed = { status: 'timeout', records: [], aliases: [] } as const;
  const dns = { ...probedDns(base, rules), mx: exchange === null ? failed : base.dns.mx };
  const evidence: Evidence = { ...base, observedAt: at, dns };
  const time = new Date(at);
  return { profile: detect(evidence, rules), evidence, startedAt: time, finishedAt: time };
}

/** The same scan with other TXT records at the apex. */
export function withTxt(scan: ScanRecord, txt: readonly string[], rules: Rulebook = rulebook): ScanRecord {
  const dns = { ...scan.evidence.dns, txt: { status: 'found', records: txt, aliases: [] } as const };
  const evidence = { ...scan.evidence, dns };
  return { ...scan, evidence, profile: detect(evidence, rules) };
}

/** The same scan with a home page, and who serves it. */
export function withServer(scan: ScanRecord, server: string): ScanRecord {
  const { http } = evidenceFromRecord({ domain: scan.profile.domain, headers: { server }, html: '<p>' });
  const evidence = { ...scan.evidence, http };
  return { ...scan, evidence, profile: detect(evidence, rulebook) };
}

export const GOOGLE = 'aspmx.l.google.com';
export const MICROSOFT = 'example-com.mail.protection.outlook.com';
/** The n-th day of the tests' time. */
export const day = (n: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + n * 24 * HOUR).toISOString();
/** Where the mail of a domain that moves every second day goes. */
export const exchangeOn = (n: number) => (n % 4 < 2 ? GOOGLE : MICROSOFT);

/** Everything that an index is built from; the rows of SQLite have no prototype. */
export async function readFeed(store: Store, migrationDays = 60) {
  const read = {
    ...{ domains: [] as IndexedDomain[], changeDays: [] as DayOfChanges[] },
    ...{ migrations: [] as IndexedMigration[], scanDays: [] as FeedDay[] },
  };
  const reader: FeedReader = {
    domains: (batch) => void read.domains.push(...batch),
    changeDays: (batch) => void read.changeDays.push(...batch.map((row) => ({ ...row }))),
    migrations: (batch) => void read.migrations.push(...batch.map((row) => ({ ...row }))),
    scanDays: (days) => void read.scanDays.push(...days.map((row) => ({ ...row }))),
  };
  return { ...read, position: await store.feed.readAll(reader, { migrationDays }) };
}
