// Ten thousand subscribers of one node while a scanner records what moves: how long an event takes to reach each, whether all have all of
// them, and what the subscribers cost the scans.
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/stack/store';
import { type PostgresServer, startPostgres } from '../../tests/support/database/postgres.ts';
import { startInternet } from '../internet.ts';
import { nodesOn } from '../load/nodes-on.ts';
import { askChild, type Child, type Figure, openFilesFor, perSecond, startChild, useOf } from '../measure.ts';
import type { Judgement, PublishedEvents, SubscribersOptions } from './subscribers-process.ts';

const SUBSCRIBERS = Number(process.env.STRATA_BENCH_SUBSCRIBERS ?? 10_000);
const COMPANIES = Number(process.env.STRATA_BENCH_DOMAINS ?? 500);
const SECONDS = Number(process.env.STRATA_BENCH_SECONDS ?? 60);
/** Ten of five hundred companies change something every ten seconds, some of them several things. */
const MIGRATION_SHARE = 0.02;
const DAY_MS = 10_000;
/** A company is scanned again at once, and two scans confirm a change. */
const AGAIN_MS = 1_000;
const TIMEOUT_MS = 300_000;

export async function benchLoadedStream(): Promise<Figure[]> {
  openFilesFor(SUBSCRIBERS);
  // Delays are measured from the commit time of each row.
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', track_commit_timestamp: 'on' });
  const url = await server.fresh();
  const days = { from: Date.now(), begunAt: Date.now(), dayMs: DAY_MS };
  await using internet = await startInternet({
    ...{ domains: COMPANIES, migrationShare: MIGRATION_SHARE, hasFaults: false, days },
  });
  const key = await fill(url, internet.ready.domains);
  await using nodes = await nodesOn(url);
  const api = await nodes.start('api');
  await nodes.start('scheduler');
  const scanner = await nodes.start('scanner', {
    internet: internet.ready,
    rescanAfterMs: AGAIN_MS,
    confirmAfterMs: AGAIN_MS,
  });
  const ask = asker(server, url);
  await until(
    'all are scanned',
    async () => (await ask('select count(distinct domain_id) as n from scans')) >= COMPANIES,
  );

  const alone = await scansASecond(ask);
  const before = await useOf(api.child, 'live');
  const options: SubscribersOptions = { port: api.child.ready.port ?? 0, key, count: SUBSCRIBERS };
  await using subscribers = await startChild<{ open: number }>(
    new URL('./subscribers-process.ts', import.meta.url),
    options,
  );
  const after = await useOf(api.child, 'live');
  const together = await scansASecond(ask);
  await scanner[Symbol.asyncDispose]();
  const judgement = await judged(server, { url, subscribers });

  const { events, received, lost, outOfOrder, closed, sinceRecorded, sincePublished, spread } = judgement;
  const ms = ([p50 = 0, p99 = 0, max = 0]: readonly number[]) =>
    `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${max.toFixed(0)} ms`;
  const kib = (bytes: number) => `${(bytes / SUBSCRIBERS / 1_024).toFixed(1)} KiB`;
  const isComplete = lost + outOfOrder + closed === 0;
  return [
    {
      what: `${SUBSCRIBERS.toLocaleString('en-US')} subscribers of one node, ${events} events: from the commit of the scan to each of them`,
      value: ms(sinceRecorded),
      against:
        'goal: all within 1,000 ms on cores of their own; here PostgreSQL, scanner, scheduler, internet, node and subscribers share them',
    },
    {
      what: 'of which from the commit of the event itself',
      value: ms(sincePublished),
      against: `from the first subscriber to the last p50 ${spread[0]?.toFixed(0)} ms`,
    },
    {
      what: 'events received',
      value: received.toLocaleString('en-US'),
      against: isComplete
        ? 'none lost, none twice, all in order'
        : `WRONG: ${lost} lost or twice, ${outOfOrder} out of turn, ${closed} connections closed`,
    },
    {
      what: 'memory of the node for each subscriber, RSS',
      value: kib(after.rss - before.rss),
      against: `live heap and buffers ${kib(after.heapUsed + after.external - before.heapUsed - before.external)}`,
    },
    { what: 'scans with the subscribers', value: perSecond(together), against: `without them ${perSecond(alone)}` },
  ];
}

async function fill(url: string, domains: readonly string[]): Promise<string> {
  await using store = await openStore(url);
  await store.domains.add(domains, { source: 'bench' });
  return (await store.keys.create({ tier: 'unlimited' })).key;
}

type Ask = (question: string) => Promise<number>;

/** Answers with the number that the only row's `n` is. */
function asker(server: PostgresServer, url: string): Ask {
  return async (question) => Number((await server.sql(question, new URL(url).pathname.slice(1))).rows[0]?.n);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + TIMEOUT_MS; !(await isSo()); await delay(500))
    if (Date.now() > deadline) throw new Error(`${what}: not within ${TIMEOUT_MS / 1_000} s`);
}

async function scansASecond(ask: Ask): Promise<number> {
  const count = () => ask('select count(*) as n from scans');
  const [before, startedAt] = [await count(), performance.now()];
  await delay(SECONDS * 1_000);
  return (((await count()) - before) * 1_000) / (performance.now() - startedAt);
}

/** When no more events are published, and the last one has reached all subscribers or a time limit has passed. */
async function judged(
  server: PostgresServer,
  { url, subscribers }: { readonly url: string; readonly subscribers: Child<unknown> },
): Promise<Judgement> {
  const ask = asker(server, url);
  await until('the stream has published all events', async () => {
    const unpublished = `select count(*) as n from events, settings
      where settings.name = 'stream-cursor' and seq > settings.value::bigint and kind = 'change-confirmed'`;
    return (await ask(unpublished)) === 0;
  });
  const last = await ask('select coalesce(max(seq), 0) as n from stream_events');
  await until('all have the last event', async () => (await askChild<number>(subscribers, 'received')) >= last).catch(
    () => {},
  );
  const { rows } = await server.sql(
    `select published.seq, extract(epoch from pg_xact_commit_timestamp(published.xmin)) * 1000 as published_at,
       extract(epoch from pg_xact_commit_timestamp(recorded.xmin)) * 1000 as recorded_at
     from stream_events published join events recorded on recorded.seq = substring(published.body::jsonb ->> 'id' from 4)::bigint order by published.seq`,
    new URL(url).pathname.slice(1),
  );
  const events = rows.map((row) => ({
    seq: Number(row.seq),
    recordedAt: Number(row.recorded_at),
    publishedAt: Number(row.published_at),
  }));
  return askChild<Judgement>(subscribers, { events } satisfies PublishedEvents);
}
