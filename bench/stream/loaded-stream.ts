// Ten thousand subscribers of one node while a scanner records what moves: how long an event takes to reach each, and whether all have all
// of them.
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/stack/store';
import { startPostgres } from '../../tests/support/database/postgres.ts';
import { until } from '../../tests/support/until.ts';
import { startInternet } from '../internet.ts';
import { nodesOn } from '../load/nodes-on.ts';
import { askChild, type Figure, openFilesFor, setting, startChild, thousands } from '../measure.ts';
import type { Judgement, PublishedEvents, SubscribersOptions } from './subscribers-process.ts';

const SUBSCRIBERS = setting('SUBSCRIBERS', 10_000);
const COMPANIES = setting('DOMAINS', 500);
const SECONDS = setting('SECONDS', 60);
/** Ten of five hundred companies change something every ten seconds, some of them several things. */
const MIGRATION_SHARE = 0.02;
const DAY_MS = 10_000;
/** A company is scanned again at once, and two scans confirm a change. */
const AGAIN_MS = 1_000;
const PATIENT = { limitMs: 300_000, intervalMs: 500 };

const UNPUBLISHED = `select count(*) as n from events, settings
  where settings.name = 'stream-cursor' and seq > settings.value::bigint and kind = 'change-confirmed'`;
/** Delays are measured from the commit time of each row. */
const RECORDED = `select published.seq, extract(epoch from pg_xact_commit_timestamp(recorded.xmin)) * 1000 as recorded_at
  from stream_events published join events recorded on recorded.seq = substring(published.body::jsonb ->> 'id' from 4)::bigint order by published.seq`;

export async function benchLoadedStream(): Promise<Figure[]> {
  openFilesFor(SUBSCRIBERS);
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', track_commit_timestamp: 'on' });
  const url = await server.fresh();
  const rowsOf = async (question: string) => (await server.sql(question, new URL(url).pathname.slice(1))).rows;
  const ask = async (question: string) => Number((await rowsOf(question))[0]?.n);
  const days = { from: Date.now(), begunAt: Date.now(), dayMs: DAY_MS };
  const moving = { domains: COMPANIES, migrationShare: MIGRATION_SHARE, hasFaults: false, days };
  await using internet = await startInternet(moving);
  const key = await fill(url, internet.ready.domains);
  await using nodes = await nodesOn(url);
  const api = await nodes.start('api');
  await nodes.start('scheduler');
  const again = { rescanAfterMs: AGAIN_MS, confirmAfterMs: AGAIN_MS };
  const scanner = await nodes.start('scanner', { internet: internet.ready, ...again });
  const scanned = 'select count(distinct domain_id) as n from scans';
  await until(async () => (await ask(scanned)) >= COMPANIES, { ...PATIENT, what: 'all are scanned' });

  const options: SubscribersOptions = { port: api.child.ready.port ?? 0, key, count: SUBSCRIBERS };
  await using subscribers = await startChild(new URL('./subscribers-process.ts', import.meta.url), options);
  await delay(SECONDS * 1_000);
  await scanner[Symbol.asyncDispose]();
  await until(async () => (await ask(UNPUBLISHED)) === 0, { ...PATIENT, what: 'all events are published' });
  const last = await ask('select coalesce(max(seq), 0) as n from stream_events');
  // Or a time limit has passed: then some have lost events.
  await until(async () => (await askChild<number>(subscribers, 'received')) >= last, PATIENT).catch(() => {});
  const events = (await rowsOf(RECORDED)).map((row) => ({
    seq: Number(row.seq),
    recordedAt: Number(row.recorded_at),
  }));
  const published = { events } satisfies PublishedEvents;
  const { received, lost, outOfOrder, closed, toEach } = await askChild<Judgement>(subscribers, published);
  const [p50 = 0, p99 = 0] = toEach;
  return [
    [
      `scan to each of ${thousands(SUBSCRIBERS)} subscribers of one node`,
      `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      'goal < 1,000 ms on cores of its own',
    ],
    [
      'events received',
      thousands(received),
      lost + outOfOrder + closed === 0
        ? 'none lost, doubled or out of order'
        : `WRONG: ${lost} lost or doubled, ${outOfOrder} out of order, ${closed} connections closed`,
    ],
  ];
}

async function fill(url: string, domains: readonly string[]): Promise<string> {
  await using store = await openStore(url);
  await store.domains.add(domains, { source: 'bench' });
  return (await store.keys.create({ tier: 'unlimited' })).key;
}
