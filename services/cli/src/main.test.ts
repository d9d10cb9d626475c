// The command itself: help, usage errors, failures at the start. process.full.test.ts runs it as a process.

import assert from 'node:assert/strict';
import { chownSync, linkSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readGatewayConfig } from '@strata/gateway';
import { readConfig, stackOpenApi } from '@strata/stack';
import { casesOf, fakeService, temporaryDirectory } from '../../../tests/support/index.ts';
import { withLinks } from './commands/stack/start.ts';
import { assertEnds, OTHER_UID, runStrata, spawnStrata, succeed } from './test/run-strata.ts';

const quiet = {
  ...{ STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_RESOLVERS: '127.0.0.1:1' },
  ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0' },
};

const groups = casesOf<Record<string, string>>('cli', 'commands');

it('the strata command has help for every command, each option with its meaning', async () => {
  const check = async (command: string) => {
    const { stdout } = await assertEnds(`${command} --help`.trim(), 0, /^$/);
    assert.ok(stdout.startsWith(`Usage: strata ${command}`.trim()), stdout.slice(0, 80));
    for (const line of stdout.split('\n').filter((text) => /^ {2}-/.test(text)))
      assert.match(line, /^ {2}-\S.* {2,}\S/, line);
    return stdout;
  };
  for (const [group, commands] of Object.entries(groups)) {
    const listed = await check(group);
    for (const name of commands.split(' ')) {
      assert.match(listed, new RegExp(`^ {2}${name}\\b`, 'm'));
      await check(`${group} ${name}`.trim());
    }
  }
});

it('the strata command ends with exit code 2 for usage errors and invalid settings', async () => {
  const stack = ['nonsense', 'scan', 'keys revoke', 'keys list --nonsense', 'verify a b', 'serve --role janitor'];
  for (const args of ['nonsense', ...stack.map((each) => `stack ${each}`)])
    assert.equal((await assertEnds(args, 2, /^error: .+\n\(strata --help/)).stdout, '', args);
  const env = { STRATA_STACK_PORT: 'x', STRATA_RESOLVERS: 'y' };
  const words = /^strata: invalid settings\n {2}STRATA_STACK_PORT: .+\n {2}STRATA_RESOLVERS\.?\d*: .+\n$/;
  await assertEnds('stack keys list', 2, words, { env });
});

it('the strata command prints its version and that of the API, as the package and the description have them', async () => {
  const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '../package.json'), 'utf8'));
  const { info } = stackOpenApi() as { info?: { version: string } };
  const stdout = `strata ${version} (API ${info?.version})\n`;
  assert.deepEqual(await runStrata('--version'), { code: 0, stdout, stderr: '' });
});

it('the strata command connects to loopback only in these tests', async () => {
  // An error of the system would have a number.
  const isOfGuard = ({ cause }: { readonly cause: NodeJS.ErrnoException }) =>
    cause.code === 'ECONNREFUSED' && cause.errno === undefined;
  await assert.rejects(fetch('http://192.0.2.1/'), isOfGuard);
});

/** Runs `serve` with these settings; it must end by itself with one line that matches. */
async function failsWith(more: Record<string, string>, line: RegExp): Promise<void> {
  const env = { ...quiet, STRATA_LOG_LEVEL: 'fatal', ...more };
  const { stdout, stderr } = await assertEnds('stack serve', 1, line, { env });
  assert.deepEqual([stdout, stderr.split('\n').length], ['', 2], stderr);
}

it('strata at its start fails with a clear line and exit code 1 where a port is in use', async () => {
  await using data = await temporaryDirectory();
  await using server = await fakeService(() => {});
  const { port } = new URL(server.base);
  for (const name of ['STRATA_STACK_PORT', 'STRATA_METRICS_PORT']) {
    const line = `^strata: cannot serve the .+ port ${port}: the port is in use; choose another one with ${name}`;
    await failsWith({ STRATA_DATA: data.path, [name]: port }, new RegExp(line));
  }
});

it('strata at its start fails as clearly where a database, a data directory, a list or keys cannot be used', async () => {
  await using data = await temporaryDirectory();
  const below = (...names: string[]) => path.join(data.path, ...names);
  await writeFile(below('text.db'), 'not a database, but long enough to be read as one. '.repeat(100));
  await mkdir(below('directory.db'));
  await writeFile(below('file'), '');
  await mkdir(below('keys', 'receipts'), { recursive: true });
  await writeFile(below('keys', 'receipts', 'signing-keys.json'), '{}', { mode: 0o644 });
  const at = (file: string) => ({ STRATA_DATA: below('data'), STRATA_DATABASE_URL: `sqlite:${file}` });
  for (const [env, line] of [
    [at(below('text.db')), /^strata: The file is not a Strata database\./],
    [at(below('directory.db')), /^strata: The database file cannot be opened/],
    [at(below('nowhere', 'x.db')), /^strata: The database file cannot be opened/],
    [at('/proc/version'), /^strata: The /],
    [{ STRATA_DATA: below('file') }, /^strata: cannot create the data directory .+: a file with this name exists/],
    [{ STRATA_DATA: below('file', 'below') }, /^strata: cannot create the data directory .+ is a file/],
    [{ STRATA_DATA: below('other'), STRATA_OPT_OUT_FILE: '/nowhere' }, /^strata: cannot read the opt-out list/],
    [{ STRATA_DATA: data.path }, /^strata: .+signing-keys\.json is readable by other users/],
  ] as const)
    await failsWith(env, line);
});

it('strata at its start serves until SIGINT and ends with exit code 0; a second process on its data is refused', async () => {
  await using data = await temporaryDirectory();
  const env = { ...quiet, STRATA_DATA: data.path };
  const locked = /^strata: .+lock is held by process \d+ on .+: another .+; stop it, or .+STRATA_DATA to .+\n$/;
  const { code, stderr } = await spawnStrata('stack serve', {
    env,
    async whileAt({ matched }) {
      await assertEnds('stack serve', 1, locked, { env });
      assert.equal((await fetch(new URL('/health', matched[1]))).status, 200);
    },
    interruptAt: /"url":"(http:[^"]+)"/,
  });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /"msg":"ready"[\s\S]*"msg":"stopping"/);
});

const isRoot = process.getuid?.() === 0;
// process.full.test.ts has the tests of another user.
describe('a command that root runs', { skip: isRoot ? false : 'only root writes for other users' }, () => {
  it('gives its files to the owner of the data directory, but not the target of a link', async () => {
    await using data = await temporaryDirectory();
    await using elsewhere = await temporaryDirectory();
    const names = () => readdirSync(data.path, { recursive: true, encoding: 'utf8' });
    const ownedByRoot = () => names().filter((name) => statSync(path.join(data.path, name)).uid !== OTHER_UID);
    chownSync(data.path, OTHER_UID, OTHER_UID);
    const strata = (args: string) => succeed(args, { env: { STRATA_DATA: data.path } });
    const backup = path.join(elsewhere.path, 'backup');
    await strata('stack keys create');
    assert.deepEqual(ownedByRoot(), []);
    await strata('stack keys rotate-signing');
    await strata('inference keys rotate-signing');
    assert.deepEqual(ownedByRoot(), []);
    assert.equal(statSync(path.join(data.path, 'keys/ledger/signing-keys.json')).mode & 0o777, 0o600);
    await strata(`stack backup ${backup}`);
    await strata(`stack restore ${backup} --replace`);
    assert.ok(readdirSync(data.path).some((name) => name.includes('.replaced-')));
    assert.deepEqual(ownedByRoot(), []);
    assert.equal(statSync(backup).uid, 0, 'a file elsewhere keeps its owner');

    const secret = path.join(elsewhere.path, 'secret');
    writeFileSync(secret, '');
    linkSync(secret, path.join(data.path, 'link'));
    symlinkSync(elsewhere.path, path.join(data.path, 'folder'));
    await strata('stack keys create');
    assert.equal(statSync(secret).uid, 0);
  });
});

type Links = [what: string, env: Record<string, string>, chat: string | null, stack: string | null];
for (const [what, env, chat, stack] of casesOf<Links[]>('cli', 'links of both services'))
  it(`both services name ${what}`, () => {
    const { stack: ofStack, inference } = withLinks(readConfig(env), readGatewayConfig(env));
    assert.deepEqual([ofStack.chatUrl ?? null, inference.explorerUrl ?? null], [chat, stack]);
  });

it('both services report `stopping` concurrently, and answer until the drain time is over', async () => {
  await using directory = await temporaryDirectory();
  const samples: { readonly ready: readonly string[]; readonly health: readonly number[] }[] = [];
  let watching: Promise<void> | undefined;
  const watch = async (bases: readonly string[]) => {
    for (;;) {
      const asked = (path: string) => Promise.all(bases.map((base) => fetch(`${base}${path}`)));
      const answers = await Promise.all([asked('/ready'), asked('/health')]).catch(() => undefined);
      if (!answers) return;
      const states = answers[0].map(async (answer) => ((await answer.json()) as { status: string }).status);
      samples.push({ ready: await Promise.all(states), health: answers[1].map(({ status }) => status) });
      await delay(50);
    }
  };
  await succeed('start', {
    env: {
      ...{ ...quiet, STRATA_DATA: directory.path, STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on' },
      ...{ STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_DRAIN_SECONDS: '2' },
    },
    interruptAt: /^(?=[\s\S]*"url":"(http:[^"]+)\/v1")(?=[\s\S]*"url":"(http:[^"]+)\/","metricsPort")/,
    whileAt: async ({ matched: [, chat = '', stack = ''] }) => {
      watching = watch([stack, chat]);
    },
  });
  await watching;
  const both = samples.filter(({ ready }) => ready.every((state) => state === 'stopping'));
  // With sequential drains there would be none.
  assert.ok(both.length >= 3, JSON.stringify(samples));
  assert.ok(samples.every(({ health }) => health.every((status) => status === 200)));
});
