// The command as a process: as another user, with closed pipes, ended by signals; and with secrets, which must not appear in its output,
// in its responses, or to other users of the machine, also after errors.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fakeService, temporaryDirectory, until } from '../../../tests/support/index.ts';
import { OTHER_UID, otherUserSkip, runStrata, spawnStrata, strataProcess } from './test/run-strata.ts';

const foreign = (mode: string) => {
  const user = `and this process runs as user ${OTHER_UID}; give it to the user of the service \\(chown\\)`;
  return new RegExp(` belongs to user \\d+.* with mode ${mode}, ${user}`);
};

describe('a process of another user', { skip: otherUserSkip() }, () => {
  it('fails in a data directory without the right to write', async () => {
    await using data = await temporaryDirectory();
    chmodSync(data.path, 0o555);
    const env = { STRATA_DATA: data.path, STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_LOG_LEVEL: 'fatal' };
    const { code, stderr } = await spawnStrata(['stack', 'serve'], { env, uid: OTHER_UID });
    assert.equal(code, 1, stderr);
    const unwritable = /^strata: The database file cannot be opened: check that the directory exists and may be /;
    for (const pattern of [unwritable, foreign('0555')]) assert.match(stderr, pattern);
  });

  it('reports the owner of a file that it cannot access', async () => {
    await using data = await temporaryDirectory();
    chownSync(data.path, OTHER_UID, OTHER_UID);
    chmodSync(data.path, 0o700);
    const rotate = (more: object) =>
      spawnStrata(['stack', 'keys', 'rotate-signing'], { env: { STRATA_DATA: data.path }, ...more });
    const before = path.join(data.path, 'before');
    writeFileSync(before, '');
    assert.equal((await rotate({})).code, 0);
    assert.equal(statSync(before).uid, 0, 'it was there before the process');
    const file = path.join(data.path, 'keys/receipts/signing-keys.json');
    assert.equal(statSync(file).uid, OTHER_UID);
    chownSync(file, 0, 0);
    const { code, stderr } = await rotate({ uid: OTHER_UID });
    assert.equal(code, 1);
    const root = /^strata: .+receipts\/signing-keys\.json belongs to user 0 \(root\) with/;
    for (const pattern of [root, foreign('0600')]) assert.match(stderr, pattern);
  });
});

it('a process of the command ends quietly when its output is closed', async () => {
  const input = '{"domain":"x.com"}\n'.repeat(5_000);
  const { code, stderr } = await spawnStrata('stack explain', { input, closesOutput: true });
  assert.deepEqual([code, stderr], [0, '']);
});

it('a process of the command ends with 0 on SIGINT while a worker waits for its model', async () => {
  await using data = await temporaryDirectory();
  const asked = Promise.withResolvers<void>();
  // A hub that never answers.
  await using hub = await fakeService(() => asked.resolve());
  const near = { STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_MODEL_OPTIONS: `hf-endpoint=${hub.base}` };
  const { code, stderr } = await spawnStrata('inference worker --model hf:someone/something', {
    env: { STRATA_DATA: data.path, ...near },
    interruptAt: /resolving the model/,
    whileAt: () => asked.promise,
  });
  assert.equal(code, 0, stderr);
});

it('a process of the command of mcp writes nothing but the protocol, and ends when its input does', async () => {
  const { command, args, env } = strataProcess(['mcp'], { STRATA_URL: 'http://127.0.0.1:1' });
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const lines = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'stack_alerts', arguments: {} } },
    { jsonrpc: '2.0', id: 3, method: 'no/such/method' },
  ];
  child.stdin.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\nno json\n`);
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    stdout += chunk;
    if (/"id":3/.test(stdout) && /"id":2/.test(stdout)) child.stdin.end();
  }
  if (child.exitCode === null) await once(child, 'close');
  assert.deepEqual([child.exitCode, child.signalCode], [0, null]);
  const messages = Array.from(stdout.trim().split('\n'), (line) => JSON.parse(line));
  assert.ok(messages.every(({ jsonrpc }) => jsonrpc === '2.0'));
  assert.deepEqual(messages.flatMap(({ id }) => id ?? []).toSorted(), [1, 2, 3]);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  it(`a process of the command of mcp --http ends with 0 on ${signal}, having printed nothing on standard output`, async () => {
    const { command, args, env } = strataProcess(['mcp', '--http', '0']);
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => assert.fail(String(chunk)));
    let stderr = '';
    while (!/API key: none/.test(stderr)) stderr += String((await once(child.stderr, 'data'))[0]);
    child.kill(signal);
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });

it('a process of the command of mcp --http says that its port is taken', async () => {
  await using taken = await fakeService(() => {});
  const { code, stderr } = await spawnStrata(['mcp', '--http', new URL(taken.base).port]);
  assert.deepEqual([code, /EADDRINUSE/.test(stderr)], [1, true], stderr);
});

const SECRETS = {
  database: 'database-pass-5f1c9a7e',
  nvd: 'nvd-key-0b7d2c44',
  upstream: 'upstream-key-93ae61f0',
  hub: 'hub-token-7c20d5b1',
  join: 'strata1SecretJoinToken4Zx9',
  stackKey: `ssk_${'guess-stack-'.padEnd(43, 'k')}`,
  inferenceKey: `sk-${'guess-inference-'.padEnd(43, 'k')}`,
} as const;

/** Throws where a text has a secret, by its name and never by its value. */
function assertNoSecret(text: string, where: string): void {
  for (const [name, secret] of Object.entries(SECRETS))
    for (const form of [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)])
      assert.equal(text.includes(form), false, `${where} has the secret ${name}`);
}

/** A publisher or model server that repeats received secrets in its errors. */
async function repeating(answer: RequestListener) {
  const received: string[] = [];
  const service = await fakeService((request, response) => {
    received.push(JSON.stringify(request.headers));
    answer(request, response);
  });
  return { ...service, received };
}

/** A database server that requests the password in clear text and repeats it in its error. */
async function repeatingDatabase() {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      // AuthenticationCleartextPassword.
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.on('data', (bytes) => {
        const text = bytes.subarray(5).toString('latin1').replaceAll('\0', '');
        received.push(text);
        const fields = Buffer.from(`SFATAL\0C28P01\0Mthe password ${text} is wrong\0\0`, 'latin1');
        const head = Buffer.from('E\0\0\0\0', 'latin1');
        head.writeInt32BE(fields.length + 4, 1);
        socket.end(Buffer.concat([head, fields]));
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, received, [Symbol.asyncDispose]: async () => void server.close() };
}

/** What every user of the machine may read of every process: its arguments. */
async function commandLines(): Promise<string> {
  if (!existsSync('/proc/self/cmdline')) return '';
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
  return lines.join('\n');
}

/** Asks everything that could repeat something, with keys where keys do not belong. */
async function provoke(base: string, targets: readonly string[]): Promise<void> {
  const { stackKey, inferenceKey } = SECRETS;
  const suffixes = [`?key=${stackKey}`, `?api_key=${inferenceKey}`, `/${stackKey}`, `/${inferenceKey}/x?limit=0`];
  const misplaced = { authorization: `Bearer ${stackKey}`, cookie: `key=${stackKey}`, 'x-request-id': 'request-0001' };
  const credentials = [{ 'x-stack-key': stackKey }, { authorization: `Bearer ${inferenceKey}` }, misplaced];
  for (const target of targets)
    for (const suffix of ['', ...suffixes])
      for (const headers of credentials) {
        const response = await fetch(base + target + suffix, { headers });
        const fields = [...response.headers].map((pair) => pair.join(': ')).join('\n');
        assertNoSecret(`${fields}\n${await response.text()}`, `the answer to ${target}`);
      }
}

const quiet = { STRATA_SCAN: 'off', STRATA_FEEDS: 'off', STRATA_RESOLVERS: '127.0.0.1:9', STRATA_LOG_LEVEL: 'trace' };

describe('secrets', { timeout: 120_000 }, () => {
  it('of the stack service stay with it, whatever its publishers and callers do', async () => {
    await using directory = await temporaryDirectory();
    const data = path.join(directory.path, 'data');
    await using publisher = await repeating(({ headers }, to) => to.writeHead(500).end(JSON.stringify(headers)));
    const outcome = await spawnStrata('stack serve', {
      env: {
        ...{ ...quiet, STRATA_DATA: data, STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_ADVISORIES: 'nvd' },
        ...{ STRATA_NVD_URL: `${publisher.base}/cves`, STRATA_NVD_API_KEY: SECRETS.nvd },
        ...{ STRATA_JOIN: SECRETS.join, STRATA_UPSTREAM_KEY: SECRETS.upstream },
      },
      interruptAt: /"url":"(http:[^"]+)\/","metricsPort":(\d+)/,
      async whileAt({ matched: [, base = '', metricsPort] }) {
        const targets = ['/nowhere', '/stack/v1/stats', '/stack/v1/domains/x', '/openapi.json', '/site.json', '/keys'];
        await provoke(base, targets);
        const key = (await (await fetch(`${base}/keys`, { method: 'POST' })).json()) as { key: string };
        // The report for key holders contains the error of the publisher.
        await until(() => publisher.received.length > 0, { what: 'the publisher is asked', limitMs: 60_000 });
        const status = await fetch(`${base}/stack/v1/enrichment/status`, { headers: { 'x-stack-key': key.key } });
        assertNoSecret(await status.text(), 'the state of enrichment');
        assertNoSecret(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(), 'the metrics');
        assertNoSecret(await commandLines(), 'a command line');
        assert.equal((await stat(data)).mode & 0o077, 0, 'other users can read the data directory');
      },
    });
    assert.equal(outcome.code, 0, outcome.stderr.slice(-2_000));
    assert.ok(publisher.received.join('').includes(SECRETS.nvd), 'the publisher got its key');
    assertNoSecret(outcome.stdout + outcome.stderr, 'the log');
  });

  it('of the inference service stay with it, whatever the server behind it and callers do', async () => {
    await using directory = await temporaryDirectory();
    await using upstream = await repeating((request, response) => {
      const isList = request.url === '/v1/models';
      response.writeHead(isList ? 200 : 400, { 'content-type': 'application/json' });
      const error = { message: `bad: ${request.headers.authorization}`, type: 'x', code: 'x' };
      response.end(JSON.stringify(isList ? { object: 'list', data: [{ id: 'model' }] } : { error }));
    });
    const outcome = await spawnStrata('inference gateway', {
      env: {
        ...{ ...quiet, STRATA_DATA: path.join(directory.path, 'data'), STRATA_INFERENCE_PORT: '0' },
        ...{ STRATA_UPSTREAM: `${upstream.base}/v1`, STRATA_UPSTREAM_KEY: SECRETS.upstream },
        ...{ STRATA_UPSTREAM_MODELS: 'model', STRATA_HF_TOKEN: SECRETS.hub, STRATA_NVD_API_KEY: SECRETS.nvd },
        STRATA_INFERENCE_FREE_KEYS_PER_DAY: '5',
      },
      interruptAt: /"url":"(http:[^"]+)\/v1"/,
      async whileAt({ matched: [, base = ''] }) {
        await provoke(base, ['/nowhere', '/v1/models', '/openapi.json', '/site.json', '/network', '/keys']);
        const { key } = (await (await fetch(`${base}/keys`, { method: 'POST' })).json()) as { key: string };
        for (const stream of [false, true]) {
          const response = await fetch(`${base}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'model', stream, messages: [{ role: 'user', content: 'hi' }] }),
          });
          assertNoSecret(await response.text(), 'a completion that failed');
        }
        assertNoSecret(await commandLines(), 'a command line');
      },
    });
    assert.equal(outcome.code, 0, outcome.stderr.slice(-2_000));
    assert.ok(upstream.received.join('').includes(SECRETS.upstream), 'the server behind it got its key');
    assertNoSecret(outcome.stdout + outcome.stderr, 'the log');
  });

  it('are not repeated by a start that fails', async () => {
    await using directory = await temporaryDirectory();
    await using database = await repeatingDatabase();
    await using hub = await repeating((request, response) => {
      response.setHeader('x-error-message', String(request.headers.authorization));
      response.writeHead(401).end(JSON.stringify(request.headers));
    });
    const login = `strata:${SECRETS.database}`;
    const databases = [`127.0.0.1:${database.port}`, '127.0.0.1:1', '[bad', 'localhost:99999999'];
    const upstream = { STRATA_UPSTREAM_KEY: SECRETS.upstream };
    const token = { STRATA_HF_TOKEN: SECRETS.hub, STRATA_MODEL_OPTIONS: `hf-endpoint=${hub.base}` };
    const starts: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ...databases.map((at) => ['stack serve', { STRATA_DATABASE_URL: `postgres://${login}@${at}/strata` }] as const),
      ['stack serve', { STRATA_DATABASE_URL: `mysql://${login}@localhost/strata` }],
      ['stack serve', { STRATA_NVD_URL: `ftp://${login}@nvd.example`, STRATA_NVD_API_KEY: SECRETS.nvd }],
      ['stack keys list', { STRATA_DATABASE_URL: `postgres://${login}@127.0.0.1:1/strata` }],
      ['inference gateway', { STRATA_UPSTREAM: `ftp://${login}@host`, ...upstream }],
      ['inference gateway', { STRATA_UPSTREAM: 'http://127.0.0.1:1/v1', STRATA_UPSTREAM_MODELS: 'm', ...upstream }],
      ['inference gateway', { STRATA_NETWORK: 'on', STRATA_JOIN: SECRETS.join }],
      ['inference gateway', { STRATA_MODEL: 'hf:owner/repository', ...token }],
    ];
    for (const [index, [command, env]] of starts.entries()) {
      const own = { STRATA_DATA: path.join(directory.path, String(index)), STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0' };
      const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_INFERENCE_PORT: '0' };
      const options = { env: { ...quiet, ...own, ...ports, ...env }, interruptAt: /"msg":"ready"/ };
      const { code, stdout, stderr } = await runStrata(command, options);
      assertNoSecret(stdout + stderr, `${command} with ${Object.keys(env).join(', ')}`);
      assert.ok(code === 1 || code === 2, `${command}: ${code} ${stderr.slice(-400)}`);
    }
    assert.ok(hub.received.join('').includes(SECRETS.hub), 'the hub was asked with its token');
    assert.ok(database.received.join('').includes(SECRETS.database), 'the database was asked with its password');
  });
});
