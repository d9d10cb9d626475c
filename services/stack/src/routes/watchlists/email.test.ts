// E-mail of watchlists, over SMTP: only an owner who agreed receives notifications.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { createLogger } from '@strata/http';
import { SMTPServer } from 'smtp-server';
import { readConfig } from '../../config.ts';
import { type Body, smallInternet, startHarness } from '../../test/harness.ts';
import { openMailer } from '../../watchlists/mailer.ts';

const LISTS = '/stack/v1/watchlists';

it('an address receives only the question until its owner agrees, and nothing after it unsubscribes', async () => {
  await using owned = new AsyncDisposableStack();
  const mails: { readonly to: readonly string[]; readonly content: string }[] = [];
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
    onAuth: ({ password }, _session, done) =>
      done(password === 'p@ss' ? null : new Error(`no ${password}`), { user: 1 }),
    async onData(stream, { envelope }, done) {
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), content: await text(stream) });
      done();
      server.emit('mail');
    },
  });
  owned.defer(() => server.close());
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = `127.0.0.1:${(listening.address() as AddressInfo).port}?from=strata@own.test&base=https://own.test`;
  const internet = owned.use(await smallInternet());
  const settings = { STRATA_FEEDS: 'off', STRATA_SMTP_URL: `smtp://user:p%40ss@${address}` };
  const service = owned.use(await startHarness({ internet, settings }));
  const ask = async (path: string, body?: unknown, key = service.newKey('standard')) => {
    const init = { method: 'POST', headers: { 'x-stack-key': await key, 'content-type': 'application/json' } };
    return service.ask(LISTS + path, { ...init, body: JSON.stringify(body ?? {}) });
  };
  const key = service.newKey('standard');
  const listTo = (...to: string[]) => {
    const channels = to.map((each) => ({ kind: 'email', to: each }));
    return { name: 'Own', domains: ['a.com'], rules: [{ kind: 'gained_provider' }], channels };
  };
  for (const bad of ['a@b.com\r\nBcc: c@d.com', 'a@b.com, c@d.com', '"a b"@b.com', 'A <a@b.com>', 'a@b', 'a@b.com\0'])
    assert.partialDeepStrictEqual(await ask('', listTo(bad), key), { status: 400 }, bad);

  const isAsked = once(server, 'mail');
  const { body } = await ask('', listTo('Me+x@Home.test'), key);
  const { id, channels } = body.watchlist as { id: string; channels: Body[] };
  assert.partialDeepStrictEqual(channels, [{ to: 'me+x@home.test', confirmation: 'waiting' }]);
  await isAsked;
  const token = /unsubscribe\?token=([\w-]{32})>/.exec(mails[0]?.content.replaceAll('=\r\n', '') ?? '')?.[1];
  const link = (action: string, of = token) => `/email/${action}?token=${of}`;
  const click = (action: string, of = token) =>
    service.ask(link(action, of), { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  assert.match((await service.ask(link('confirm'))).text, /me\+x@home\.test\?<\/p><form method="post">/);
  const tested = async () => {
    const [{ id: message = '' } = {}] = (await ask(`/${id}:test`, undefined, key)).body.deliveries as { id?: string }[];
    for (;;) {
      const sent = (await service.running.app.store.deliveries.list(id, { limit: 9 })).find(
        (each) => each.messageId === message,
      );
      if (sent && sent.state !== 'pending') return sent;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  assert.partialDeepStrictEqual(await tested(), { state: 'dead', error: 'the address is not confirmed' });
  assert.equal((await click('confirm', 'x'.repeat(32))).status, 404);
  assert.match((await click('confirm')).text, /receives notifications/);
  const { state, messageId } = await tested();
  assert.deepEqual([state, mails.length, mails[1]?.to], ['delivered', 2, ['me+x@home.test']]);
  for (const header of [`Message-ID: <${messageId}@own.test>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'])
    assert.ok(mails[1]?.content.includes(`${header}\r\n`), mails[1]?.content);
  assert.equal((await click('unsubscribe')).status, 200);
  assert.partialDeepStrictEqual(await tested(), { state: 'dead', error: 'the address is not confirmed' });
  const [other] = (await ask('', listTo('me@home.test'))).body.errors ?? [];
  assert.match(other?.message ?? '', /wants no e-mail/);
  for (let keys = 0; keys < 4; keys += 1)
    assert.equal((await ask('', listTo(`b+${keys}@c.test`))).status, keys < 3 ? 201 : 400);

  const log: string[] = [];
  const { smtp } = readConfig({ STRATA_SMTP_URL: `smtp://user:secret@${address}` });
  assert.ok(smtp);
  const mailer = openMailer(smtp, createLogger({ level: 'trace' }, { write: (line: string) => void log.push(line) }));
  const message = { id: 'msg_1', list: { id: '', name: '' }, createdAt: new Date(), notifications: [] };
  const failed = await mailer.send({ to: 'a@b.com', token: '', message, isConfirmation: true });
  assert.partialDeepStrictEqual(failed, { isDelivered: false, status: 535, error: 'answered 535', isFinal: false });
  assert.ok(log.length === 1 && !log.join().includes('secret'), log.join());
  for (const wrong of ['smtp://u:secret@h', `smtp://u:secret@${address}&x=1`, `http://u:secret@${address}`])
    assert.throws(
      () => readConfig({ STRATA_SMTP_URL: wrong }),
      ({ message: why }: Error) => !why.includes('secret'),
    );
});
