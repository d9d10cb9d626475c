// Processes that are killed while domains join and leave a list, between the matching of events and the delivery of messages, and while
// they deliver.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { startServe } from '../../../../tests/support/serve-process.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openStore } from '../store/index.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../store/test/scans.ts';

const DOMAINS = Array.from({ length: 8 }, (_, i) => `d${i}.com`);
/** When the process of each round is killed; the last one delivers everything. */
const KILLS = ['joined', 'matched', 'asked', 'joined', 'left', 'answered', 'never'] as const;
/** Where each round moves the mail. A list follows the domains at Microsoft: they join it, leave it, and are elsewhere. */
const EXCHANGES = [MICROSOFT, GOOGLE, 'mx.zoho.com'] as const;
const listsIn = (round: number) => (round % 3 < 2 ? ['query'] : []);
const REPORTS = KILLS.flatMap((_, round) => ['own', ...listsIn(round)]).length;
interface Report {
  readonly domain: string;
  readonly at: string;
}

it('each event reaches the receiver under one message id, also where it makes a domain join or leave a list', {
  timeout: 300_000,
}, async () => {
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
    const channel = { kind: 'webhook', target: url, secret: 'whsec_AAAA', digest: 'none', timeZone: 'UTC' } as const;
    const channels = [{ id: 'ch', ...channel }];
    const contents = DOMAINS.map((name) => ({ name, domains: [name], query: undefined }));
    for (const { ...content } of [...contents, { name: 'query', domains: [], query: 'email:microsoft-365' }])
      await store.watchlists.create(key.id, { ...content, rules, channels }, { maxLists: 9, now: new Date() });
  }
  for (const [round, when] of KILLS.entries()) {
    for (const at of [1, 2]) await scanAll(2 * round + at, EXCHANGES[round % 3] ?? '');
    const reached = Promise.withResolvers<void>();
    answer = (response) => {
      if (when === 'asked') return reached.resolve();
      response.writeHead(204).end(when === 'answered' ? reached.resolve : undefined);
    };
    await using service = await startServe(directory.path, { STRATA_ALLOW_ADDRESSES: '127.0.0.0/8' });
    using db = new DatabaseSync(file, { readOnly: true });
    const members = db.prepare('select count(*) as count from watchlist_domains');
    const pending = db.prepare("select count(*) as count from watchlist_deliveries where state = 'pending'");
    const stored = db.prepare('select count(*) as count from watchlist_notifications');
    const count = (query: typeof pending) => Number(query.get()?.count);
    const hasJoined = () => count(members) > DOMAINS.length;
    if (when === 'asked' || when === 'answered') await reached.promise;
    else if (when === 'matched') while (count(pending) === 0) await delay(5);
    else if (when !== 'never') while (hasJoined() !== (when === 'joined')) await yieldToEventLoop();
    else while (count(pending) > 0 || count(stored) < DOMAINS.length * REPORTS) await delay(50);
    await service.kill();
  }
  receiver.close();
  const reported = [...received.values()].flatMap((body) => {
    const { data } = JSON.parse(body) as { data: { watchlist: { name: string }; notifications: Report[] } };
    return data.notifications.map(({ domain, at }) => `${data.watchlist.name} ${domain} ${at}`);
  });
  const expected = KILLS.flatMap((_, round) =>
    DOMAINS.flatMap((name) => [name, ...listsIn(round)].map((list) => `${list} ${name} ${day(2 * round + 2)}`)),
  );
  assert.deepEqual(reported.sort(), expected.sort());
});
