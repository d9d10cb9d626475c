// Processes that are killed between the matching of events and the delivery of messages, and while they deliver.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startServe } from '../../../../tests/support/serve-process.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openStore } from '../store/index.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../store/test/scans.ts';

const DOMAINS = Array.from({ length: 8 }, (_, i) => `d${i}.com`);
/** When the process of each round is killed; the last one delivers everything. */
const KILLS = ['matched', 'asked', 'answered', 'matched', 'asked', 'answered', 'never'] as const;

it('each event reaches the receiver under one message id', { timeout: 300_000 }, async () => {
  await using directory = await temporaryDirectory();
  const file = path.join(directory.path, 'strata.db');
  const received = new Map<string, string>();
  let answer: (response: ServerResponse) => void;
  const receiver = createServer(async (request, response) => {
    const [id, body] = [String(request.headers['webhook-id']), await text(request)];
    assert.equal(received.get(id) ?? body, body, 'the same message in every attempt');
    received.set(id, body);
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const scanAll = async (at: number, exchange: string) => {
    await using store = await openStore(`sqlite:${file}`);
    for (const domain of DOMAINS) await recordScan(store, scanOf(domain, day(at), exchange), confirm);
    return store.events.latestSeq();
  };
  const seq = await scanAll(0, GOOGLE);
  {
    await using store = await openStore(`sqlite:${file}`);
    await store.notifications.moveTo({ seq, mention: 0 });
    const { stored: key } = await store.keys.create({ tier: 'standard' });
    const rules = [{ kind: 'gained_provider', category: 'email' }] as const;
    for (const domain of DOMAINS) {
      const channel = { kind: 'webhook', target: url, secret: 'whsec_AAAA', digest: 'none', timeZone: 'UTC' } as const;
      const content = { name: domain, domains: [domain], rules, channels: [{ id: 'ch', ...channel }] };
      await store.watchlists.create(key.id, content, { maxLists: 9, now: new Date() });
    }
  }
  for (const [round, when] of KILLS.entries()) {
    for (const at of [1, 2]) await scanAll(2 * round + at, round % 2 === 0 ? MICROSOFT : GOOGLE);
    const reached = Promise.withResolvers<void>();
    answer = (response) => {
      if (when === 'asked') return reached.resolve();
      response.writeHead(204).end(when === 'answered' ? reached.resolve : undefined);
    };
    await using service = await startServe(directory.path, { STRATA_ALLOW_ADDRESSES: '127.0.0.0/8' });
    using db = new DatabaseSync(file, { readOnly: true });
    const pending = db.prepare("select count(*) as count from watchlist_deliveries where state = 'pending'");
    const stored = db.prepare('select count(*) as count from watchlist_notifications');
    const count = (query: typeof pending) => Number(query.get()?.count);
    if (when === 'asked' || when === 'answered') await reached.promise;
    else if (when === 'matched') while (count(pending) === 0) await delay(5);
    else while (count(pending) > 0 || count(stored) < DOMAINS.length * KILLS.length) await delay(50);
    await service.kill();
  }
  receiver.close();
  const events = [...received].flatMap(([id, body]) => {
    const { data } = JSON.parse(body) as { data: { notifications: { id: string; domain: string; at: string }[] } };
    return data.notifications.map((each) => ({ ...each, message: id }));
  });
  const inOneMessage = new Set(events.map(({ domain, at }) => `${domain} ${at}`));
  assert.deepEqual([events.length, inOneMessage.size], [DOMAINS.length * KILLS.length, DOMAINS.length * KILLS.length]);
});
