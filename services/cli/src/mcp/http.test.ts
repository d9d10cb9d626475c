// `strata mcp --http`: the SDK's own client, several at once, and requests that no honest client sends.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { fakeService, until } from '../../../../tests/support/index.ts';
import { liveService } from '../test/live-service.ts';
import { callTool, startMcpHttp } from '../test/mcp-client.ts';

const call = (name: string, id = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });
const STATISTICS = call('stack_statistics');

describe('strata mcp --http', () => {
  let service: Awaited<ReturnType<typeof liveService>>;
  let env: Readonly<Record<string, string>>;
  let mcp: Awaited<ReturnType<typeof startMcpHttp>>;
  before(async () => {
    service = await liveService();
    env = { STRATA_URL: service.base, STRATA_KEY: service.key };
    mcp = await startMcpHttp(env, ['--lend-key']);
  });
  after(() => mcp?.[Symbol.asyncDispose]());

  it('answers several clients, and verifies the receipts of any of them', async () => {
    const first = await mcp.connect();
    const clients = [first, await mcp.connect(), await mcp.connect()];
    const { domain } = service;
    const answers = await Promise.all(clients.map((client) => callTool(client, 'stack_domain', { domain })));
    for (const { body, text } of answers) assert.equal(body.answer?.domain, domain, text);
    const receipt_id = answers[2]?.body.receipt.receipt_id;
    assert.equal((await callTool(first, 'stack_verify', { receipt_id })).body.answer.outcome, 'holds');
    for (const client of clients) await client.close();
  });

  it('uses the key of the client, and does not share its own with forwarded requests', async () => {
    const { key } = await service.running.app.store.keys.create({ tier: 'free' });
    const client = await mcp.connect({ 'X-Stack-Key': key });
    assert.equal((await callTool(client, 'stack_statistics')).body.quota.limit, 50);
    await client.close();
    assert.match((await mcp.post(STATISTICS, { 'x-stack-key': 'unknown' })).text, /invalid_key/);
    assert.doesNotMatch((await mcp.post(STATISTICS, {})).text, /missing_key/);
    for (const mark of ['X-Forwarded-For', 'x-forwarded-proto', 'via', 'forwarded', 'cf-connecting-ip'])
      assert.match((await mcp.post(STATISTICS, { [mark]: '203.0.113.7' })).text, /missing_key/, mark);
  });

  it('rejects requests with an unknown host or origin', async () => {
    const { port } = mcp.url;
    const good = [{}, { origin: `http://localhost:${port}` }, { host: `localhost:${port}` }];
    for (const headers of good) assert.equal((await mcp.post(STATISTICS, headers)).status, 200);
    const names = ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, 'localhost@evil.example'];
    const origins = ['https://evil.example', 'null', `http://localhost.evil.example:${port}`];
    const hosts = [...names, '[::1'].map((host) => ({ host }));
    for (const headers of [...hosts, ...origins.map((origin) => ({ origin }))]) {
      const { status, text } = await mcp.post(STATISTICS, headers);
      assert.ok(status === 403 || status === 400, `${JSON.stringify(headers)}: ${status}`);
      assert.doesNotMatch(text, /domains/);
    }
  });

  it('limits the body, with and without a declared length, and has one path', async () => {
    function* endless() {
      for (let at = 0; at < 64; at += 1) yield Buffer.alloc(65_536, 'y');
    }
    for (const [status, body, headers, target] of [
      [413, `{"x":"${'y'.repeat(1_100_000)}"}`, { 'content-length': '1100008' }],
      [413, Readable.from(endless())],
      [404, STATISTICS, {}, '/'],
      [404, STATISTICS, {}, '//evil.example/mcp'],
      [415, STATISTICS, { 'content-type': 'text/plain' }],
      [400, 'no json'],
      [200, STATISTICS],
    ] as const)
      assert.equal((await mcp.post(body, headers, target)).status, status);
    for (const method of ['GET', 'DELETE']) assert.equal((await fetch(mcp.url, { method })).status, 405);
    const preflight = await fetch(mcp.url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [403, null]);
  });

  it('shares its own key only with --lend-key, and prints which', async () => {
    assert.match(mcp.stderr(), /API key: shared \(--lend-key\)/);
    await using open = await startMcpHttp(env, ['--allow-host', 'mcp.example']);
    assert.match(open.stderr(), /API key: not shared; clients send their own as X-Stack-Key/);
    assert.match((await open.post(STATISTICS)).text, /missing_key[\s\S]*header X-Stack-Key/);
    const host = { host: 'mcp.example' };
    assert.match((await open.post(STATISTICS, host)).text, /missing_key/);
    const own = await open.post(STATISTICS, { ...host, 'x-stack-key': service.key });
    assert.match(own.text, /rwr_/);
    assert.equal((await open.post(STATISTICS, { host: 'evil.example' })).status, 403);
  });

  it('rejects messages over the limit, counting the members of a batch, and recovers', async () => {
    const waiting: (() => void)[] = [];
    let asked = 0;
    await using slow = await fakeService((_request, response) => {
      asked += 1;
      response.setHeader('content-type', 'application/json');
      waiting.push(() => response.end('{"total":0,"alerts":[]}'));
    });
    const areWaiting = (count: number) => until(() => waiting.length >= count);
    const answerAll = () => waiting.splice(0).map((answer) => answer());
    await using busy = await startMcpHttp({ STRATA_URL: slow.base, STRATA_KEY: 'ssk_x' }, ['--lend-key']);
    const batch = (count: number) => `[${Array.from({ length: count }, (_, id) => call('stack_alerts', id + 1))}]`;
    const long = await busy.post(batch(33));
    assert.deepEqual([long.status, asked], [413, 0]);

    const single = Array.from({ length: 32 }, (_, id) => busy.post(call('stack_alerts', id)));
    await areWaiting(32);
    const refused = await busy.post(call('stack_alerts'));
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
    answerAll();
    for (const { status, text } of await Promise.all(single))
      assert.deepEqual([status, /0 alerts/.test(text)], [200, true]);

    const first = busy.post(batch(20));
    await areWaiting(20);
    const more = await busy.post(batch(13));
    assert.deepEqual([more.status, more.headers['retry-after'], asked], [503, '1', 52]);
    answerAll();
    const { status, text } = await first;
    assert.deepEqual([status, text.match(/0 alerts/g)?.length], [200, 20]);
  });
});
