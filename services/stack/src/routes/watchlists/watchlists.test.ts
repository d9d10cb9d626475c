// Watchlists over HTTP: from a list to a signed message at a receiver.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { readConfig } from '../../config.ts';
import { type Body, type Harness, moveDns, scanTwice, smallInternet, startHarness } from '../../test/harness.ts';
import { openMailer } from '../../watchlists/mailer.ts';

type Channels = readonly { readonly id: string; readonly secret: string }[];
interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const owned = new AsyncDisposableStack();
const internet = owned.use(await smallInternet());
let service: Harness;
let key: string;
const received: Received[] = [];
/** The statuses of the next answers; then 204. */
const statuses: number[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers as Record<string, string>, body: await text(request) });
  response.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end();
  receiver.emit('received');
});

const mails: { readonly to: readonly string[]; readonly content: string }[] = [];
const mailServer = new SMTPServer({
  ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
  onAuth: ({ password }, _session, done) => done(password === 'p@ss' ? null : new Error('no'), { user: 1 }),
  async onData(stream, { envelope }, done) {
    mails.push({ to: envelope.rcptTo.map(({ address }) => address), content: await text(stream) });
    done();
  },
});
let smtp: string;
const LISTS = '/stack/v1/watchlists';
const ask = (method: string, path: string, body?: unknown, as = key) =>
  service.ask(path, {
    method,
    headers: { 'x-stack-key': as, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const deliveries = async (id: string, state: string) =>
  (await ask('GET', `${LISTS}/${id}/deliveries?state=${state}`)).body.deliveries as Body[];
/** Waits until a delivery in this state is stored: the receiver answers first. */
async function delivery(id: string, state: string, attempts: number, message?: string): Promise<Body> {
  for (;;) {
    const all = await deliveries(id, state);
    const found = all.find((each) => each.attempts === attempts && (message ?? each.id) === each.id);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('watchlists', () => {
  before(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const listening = mailServer.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    smtp = `127.0.0.1:${(listening.address() as AddressInfo).port}?from=strata@own.test&base=https://own.test`;
    const settings = {
      ...{ STRATA_SCAN_OPTIONS: 'confirm-hours=0', STRATA_FEEDS: 'off', STRATA_ALLOW_ADDRESSES: '127.0.0.0/8' },
      STRATA_SMTP_URL: `smtp://user:p%40ss@${smtp}`,
    };
    service = owned.use(await startHarness({ internet, settings }));
    key = await service.newKey('standard');
  });
  after(async () => {
    receiver.close();
    mailServer.close();
    await owned.disposeAsync();
  });

  it('a change of a watched domain reaches a webhook once, signed; a failed message is sent again as the same', async () => {
    const { domain, to } = moveDns(internet);
    internet.migrate(domain, { category: 'dns', to: to === 'ns1' ? 'dnsimple' : 'ns1' });
    await scanTwice(service, domain);
    await service.running.updateLoop.run();
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const content = {
      ...{ name: 'Own', domains: [`www.${domain}`, domain, 'other.com'], channels: [{ kind: 'webhook', url }] },
      rules: [{ kind: 'migrated_to', provider: to.toUpperCase() }, ...[{ kind: 'lost_provider', category: 'email' }]],
    };
    const { status, body } = await ask('POST', LISTS, content);
    assert.equal(status, 201, JSON.stringify(body));
    const list = body.watchlist as { id: string; domain_count: number; channels: Channels };
    assert.equal(list.domain_count, 2);
    const [channel] = list.channels;
    assert.ok(channel);

    // Redirects are not followed: an answer like any other that is not a success.
    statuses.push(302, 500);
    internet.migrate(domain, { category: 'dns', to });
    const isReceived = once(receiver, 'received');
    await scanTwice(service, domain);
    await service.running.updateLoop.run();
    await isReceived;
    const first = await delivery(list.id, 'pending', 1);
    const replay = async () => (await ask('POST', `${LISTS}/${list.id}/deliveries/${first.id}:replay`)).status;
    assert.equal(await replay(), 200);
    assert.equal((await delivery(list.id, 'pending', 1)).status, 500);
    assert.equal(await replay(), 200);
    assert.equal((await delivery(list.id, 'delivered', 1)).status, 204);
    const sent = received.map(({ headers, body: text }) => new Webhook(channel.secret).verify(text, headers) as Body);
    assert.equal(sent.length, 3);
    assert.deepEqual(new Set(received.map(({ headers, body: text }) => `${headers['webhook-id']} ${text}`)).size, 1);
    const data = sent[0]?.data as { notifications: Body[] };
    const found = data.notifications.map(({ rule, domain }) => [rule, domain]);
    assert.deepEqual(found, [['migrated_to', domain]]);
    const { notifications } = (await ask('GET', `${LISTS}/${list.id}/notifications`)).body;
    assert.partialDeepStrictEqual(notifications, data.notifications);

    const feed = String((body.watchlist as { feed?: string }).feed);
    assert.match((await service.ask(feed)).text, new RegExp(`<title>${domain} moved from .*</title>`));
    const { headers } = await service.ask(feed);
    const sends = [['if-none-match', 'etag'] as const, ['if-modified-since', 'last-modified'] as const];
    for (const [name, of] of sends) {
      const known = await service.ask(feed, { headers: { [name]: headers.get(of) ?? '' } });
      assert.deepEqual([known.status, known.text], [304, ''], of);
    }
    assert.equal((await service.ask(feed.replace(/.{32}$/, 'x'.repeat(32)))).status, 404);
    const events = async (watchlist: string) =>
      (await ask('GET', `/stack/v1/stream/json?since=1h&watchlist=${watchlist}`)).body.events as Body[];
    assert.deepEqual(new Set((await events(list.id)).map((event) => event.domain)), new Set([domain]));
    const other = await ask('POST', LISTS, { ...content, domains: ['other.com'] });
    const otherId = (other.body.watchlist as { id: string }).id;
    assert.deepEqual(await events(otherId), []);
    assert.equal((await ask('DELETE', `${LISTS}/${otherId}`)).status, 200);

    const followed = { ...content, domains: undefined, query: `domain:${domain}`, channels: [] };
    const { watchlist: query } = (await ask('POST', LISTS, followed)).body;
    assert.partialDeepStrictEqual(query, { query: followed.query, domain_count: 1, domains: [domain] });
    assert.equal((await ask('DELETE', `${LISTS}/${(query as { id: string }).id}`)).status, 200);
    const { body: replaced } = await ask('PUT', `${LISTS}/${list.id}`, { ...content, name: 'New' });
    assert.partialDeepStrictEqual(replaced.watchlist, { name: 'New', channels: [channel] });
    assert.equal((await ask('POST', `${LISTS}/${list.id}:test`)).status, 200);
    await delivery(list.id, 'delivered', 1);
    const otherKey = await service.newKey('free');
    for (const request of ['GET ', 'DELETE ', 'POST :test', 'GET /deliveries', 'GET /notifications']) {
      const [method = '', path = ''] = request.split(' ');
      assert.equal((await ask(method, `${LISTS}/${list.id}${path}`, undefined, otherKey)).status, 404, path);
    }
    assert.equal((await ask('DELETE', `${LISTS}/${list.id}`)).status, 200);
    assert.deepEqual((await ask('GET', LISTS)).body.watchlists, []);
  });

  it('an address receives only the question until its owner agrees, and nothing after it unsubscribes', async () => {
    const content = (to: string) => ({
      ...{ name: 'Own', domains: ['a.com'], rules: [{ kind: 'gained_provider' }], channels: [{ kind: 'email', to }] },
    });
    const { watchlist } = (await ask('POST', LISTS, content('Me+x@Home.test'))).body;
    assert.partialDeepStrictEqual(watchlist, { channels: [{ to: 'me+x@home.test', confirmation: 'waiting' }] });
    const { id } = watchlist as { id: string };
    await delivery(id, 'delivered', 1);
    const [token] =
      /(?<=unsubscribe\?token=)[\w-]{32}(?=>)/.exec(mails[0]?.content.replaceAll('=\r\n', '') ?? '') ?? [];
    const click = (action: string, of = token) => {
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
      return service.ask(`/email/${action}?token=${of}`, { method: 'POST', body });
    };
    assert.match(
      (await service.ask(`/email/confirm?token=${token}`)).text,
      /me\+x@home\.test\?<\/p><form method="post">/,
    );
    const test = async (state: string) => {
      const { deliveries: sent } = (await ask('POST', `${LISTS}/${id}:test`)).body;
      return delivery(id, state, 1, (sent as { id: string }[])[0]?.id);
    };
    assert.equal((await test('dead')).error, 'the address is not confirmed');
    assert.equal((await click('confirm', 'x'.repeat(32))).status, 404);
    assert.match((await click('confirm')).text, /receives notifications/);
    const { id: message } = await test('delivered');
    const recipients = mails.map(({ to }) => to);
    assert.deepEqual(recipients, [['me+x@home.test'], ['me+x@home.test']]);
    for (const header of [`Message-ID: <${message}@own.test>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'])
      assert.ok(mails[1]?.content.includes(`${header}\r\n`), mails[1]?.content);
    assert.equal((await click('unsubscribe')).status, 200);
    assert.equal((await test('dead')).error, 'the address is not confirmed');
    for (const [to, status] of [
      ['me@home.test', 400],
      ...[201, 201, 201, 400].map((each, i) => [`b+${i}@c.test`, each]),
    ])
      assert.equal((await ask('POST', LISTS, content(`${to}`), await service.newKey('standard'))).status, status);

    const log: string[] = [];
    const settings = readConfig({ STRATA_SMTP_URL: `smtp://user:secret@${smtp}` }).smtp;
    assert.ok(settings);
    const logger = createLogger({ level: 'trace' }, { write: (line: string) => void log.push(line) });
    const mailer = openMailer(settings, logger);
    const mail = { id: 'msg_1', list: { id: '', name: '' }, createdAt: new Date(), notifications: [] };
    const failed = await mailer.send({ to: 'a@b.com', token: '', message: mail, isConfirmation: true });
    assert.partialDeepStrictEqual(failed, { isDelivered: false, status: 535, error: 'answered 535', isFinal: false });
    assert.ok(log.length === 1 && !log.join().includes('secret'), log.join());
    for (const wrong of ['smtp://u:secret@h', `smtp://u:secret@${smtp}&x=1`, `http://u:secret@${smtp}`])
      assert.throws(() => readConfig({ STRATA_SMTP_URL: wrong }), /^(?!.*secret)/s);
  });

  it('what is not a watchlist is refused, with the field', async () => {
    const good = { name: 'x', domains: ['a.com'], rules: [{ kind: 'gained_provider' }] };
    type Refused = readonly [field: string, change: object, message?: string];
    for (const [field, change, message = '.'] of casesOf<readonly Refused[]>('stack', 'refused watchlists')) {
      // Null: without that field.
      const body = Object.fromEntries(Object.entries({ ...good, ...change }).filter(([, value]) => value !== null));
      const { status, body: answer } = await ask('POST', LISTS, body);
      const [error] = answer.errors ?? [];
      assert.deepEqual([status, error?.field], [400, field], JSON.stringify(answer));
      assert.match(error?.message ?? '', new RegExp(message, 'i'));
    }
    const free = await service.newKey('free');
    const names = Array.from({ length: 1_001 }, (_, i) => `d${i}.com`);
    assert.equal((await ask('POST', LISTS, { ...good, domains: names }, free)).status, 400);
    for (let i = 0; i < 6; i += 1) assert.equal((await ask('POST', LISTS, good, free)).status, i < 5 ? 201 : 400);
  });
});
