// The command as a process: of other users, with closed pipes, and ended by signals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fakeService } from './test/mcp-client.ts';
import { OTHER_UID, otherUserSkip, spawnStrata, strataProcess, temporaryDirectory } from './test/run-strata.ts';

const foreign = (mode: string) => {
  const user = `and this process is of user ${OTHER_UID}; give it to the user of the service \\(chown\\)`;
  return new RegExp(` belongs to user \\d+.* with mode ${mode}, ${user}`);
};

describe('a process of another user', { skip: otherUserSkip() }, () => {
  it('fails in a data directory without the right to write', async () => {
    await using data = await temporaryDirectory();
    chmodSync(data.path, 0o555);
    const env = { STRATA_DATA: data.path, STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_LOG_LEVEL: 'fatal' };
    const { code, stderr } = await spawnStrata(['stack', 'serve'], { env, uid: OTHER_UID });
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^strata: The database file cannot be opened: check that the directory exists and may be written/,
    );
    assert.match(stderr, foreign('0555'));
  });

  it('says whose a file is that it may not use', async () => {
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
    assert.match(stderr, /^strata: .+receipts\/signing-keys\.json belongs to user 0 \(root\) with/);
    assert.match(stderr, foreign('0600'));
  });
});

describe('a process of the command', () => {
  it('ends quietly when its output is closed', async () => {
    const input = `${'{"domain":"x.com"}\n'.repeat(5_000)}`;
    const { code, stderr } = await spawnStrata(['stack', 'explain'], { input, closesOutput: true });
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('ends with 0 on SIGINT while a worker waits for its model', async () => {
    await using data = await temporaryDirectory();
    const asked = Promise.withResolvers<void>();
    // A hub that never answers.
    await using hub = await fakeService(() => asked.resolve());
    const near = { STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_HF_ENDPOINT: hub.base };
    const { code, stderr } = await spawnStrata('inference worker --model hf:someone/something', {
      env: { STRATA_DATA: data.path, ...near },
      interruptAt: /looking for the model/,
      whileAt: () => asked.promise,
    });
    assert.equal(code, 0, stderr);
  });
});

describe('a process of strata mcp', () => {
  it('writes nothing but the protocol, and ends when its input does', async () => {
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
    it(`--http ends with 0 on ${signal}, having printed nothing on standard output`, async () => {
      const { command, args, env } = strataProcess(['mcp', '--http', '0']);
      const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.on('data', (chunk) => assert.fail(String(chunk)));
      let stderr = '';
      while (!/no key is lent/.test(stderr)) stderr += String((await once(child.stderr, 'data'))[0]);
      child.kill(signal);
      assert.deepEqual(await once(child, 'close'), [0, null]);
    });

  it('says that its port is taken', async () => {
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { readonly port: number };
    const { code, stderr } = await spawnStrata(['mcp', '--http', String(port)]);
    assert.deepEqual([code, /EADDRINUSE/.test(stderr)], [1, true], stderr);
  });
});
