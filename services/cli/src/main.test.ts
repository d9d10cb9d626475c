// The command as a whole: help, wrong use, and trouble at the start told in one line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { stackOpenApi } from '@strata/stack';
import { runStrata, temporaryDirectory } from './test/run-strata.ts';

describe('the strata command', () => {
  const commands = ['', 'stack', 'stack serve', 'stack scan', 'stack verify', 'stack explain', 'stack keys'];
  const keyCommands = ['create', 'list', 'revoke', 'rotate-signing'].map((name) => `stack keys ${name}`);

  it('has help for every command, each option with its meaning', async () => {
    const all = [...commands, ...keyCommands];
    const outcomes = await Promise.all(
      all.map((command) => runStrata([...command.split(' '), '--help'].filter(Boolean))),
    );
    outcomes.forEach(({ code, stdout, stderr }, i) => {
      assert.deepEqual([code, stderr], [0, ''], all[i]);
      assert.ok(stdout.startsWith(`Usage: strata${all[i] === '' ? '' : ` ${all[i]}`}`), stdout.slice(0, 80));
      for (const line of stdout.split('\n').filter((text) => /^ {2}-/.test(text)))
        assert.match(line, /^ {2}-\S.* {2,}\S/, line);
    });
    for (const command of keyCommands) assert.ok(outcomes[6]?.stdout.includes(command.split(' ')[2] ?? ''), command);
  });

  it('calls wrong use by exit code 2, and says what would be right', async () => {
    const wrong = [
      ['nonsense'],
      ['stack', 'nonsense'],
      ['stack', 'scan'],
      ['stack', 'keys', 'revoke'],
      ['stack', 'keys', 'list', '--nonsense'],
      ['stack', 'verify', 'a', 'b'],
    ];
    const outcomes = await Promise.all(wrong.map((args) => runStrata(args)));
    outcomes.forEach(({ code, stdout, stderr }, i) => {
      assert.deepEqual([code, stdout], [2, ''], wrong[i]?.join(' '));
      assert.match(stderr, /^error: .+\n\(strata --help/, wrong[i]?.join(' '));
    });
  });

  it('tells its version and that of the API, as the package and the description have them', async () => {
    const { code, stdout, stderr } = await runStrata(['--version']);
    const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '../package.json'), 'utf8'));
    const { info } = stackOpenApi() as { info?: { version: string } };
    assert.deepEqual([code, stdout, stderr], [0, `strata ${version} (API ${info?.version})\n`, '']);
  });

  it('names the settings that cannot be used, with exit code 2', async () => {
    const env = { STRATA_STACK_PORT: 'x', STRATA_RESOLVERS: 'y' };
    const { code, stderr } = await runStrata(['stack', 'keys', 'list'], { env });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^strata: a setting cannot be used\n {2}STRATA_STACK_PORT: .+\n {2}STRATA_RESOLVERS\.?\d*: .+\n$/,
    );
  });
});

describe('trouble at the start', () => {
  const quiet = {
    STRATA_SCAN: 'off',
    STRATA_ADVISORIES: 'off',
    STRATA_LOG_LEVEL: 'fatal',
    STRATA_STACK_PORT: '0',
    STRATA_METRICS_PORT: '0',
  };

  /** Runs `serve` with these settings; it must end by itself with one line that matches. */
  async function failsWith(env: Record<string, string>, line: RegExp): Promise<void> {
    const { code, stdout, stderr } = await runStrata(['stack', 'serve'], { env: { ...quiet, ...env } });
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2, stderr);
  }

  it('is a clear line and exit code 1: a port in use', async () => {
    await using data = await temporaryDirectory();
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    for (const name of ['STRATA_STACK_PORT', 'STRATA_METRICS_PORT']) {
      await failsWith(
        { STRATA_DATA: data.path, [name]: String(port) },
        new RegExp(`^strata: cannot serve the .+ port ${port}: the port is in use; choose another with ${name}`),
      );
    }
    server.close();
  });

  it('is a clear line and exit code 1: a database that is damaged, none, a directory, or cut off', async () => {
    await using data = await temporaryDirectory();
    const text = path.join(data.path, 'text.db');
    await writeFile(text, 'not a database, but long enough to be read as one. '.repeat(100));
    const directory = path.join(data.path, 'directory.db');
    await mkdir(directory);
    const at = (file: string) => ({ STRATA_DATA: data.path, STRATA_DATABASE_URL: `sqlite:${file}` });
    await Promise.all([
      failsWith(at(text), /^strata: The file is not a Strata database\./),
      failsWith(at(directory), /^strata: The database file cannot be opened/),
      failsWith(at(path.join(data.path, 'nowhere', 'x.db')), /^strata: The database file cannot be opened/),
      failsWith(at('/proc/version'), /^strata: The /),
    ]);
  });

  it('is a clear line and exit code 1: a data directory that cannot be made or written, a list that cannot be read', async () => {
    await using data = await temporaryDirectory();
    const file = path.join(data.path, 'file');
    await writeFile(file, '');
    await Promise.all([
      failsWith({ STRATA_DATA: file }, /^strata: cannot make the data directory .+: a file is in its place/),
      failsWith({ STRATA_DATA: path.join(file, 'below') }, /^strata: cannot make the data directory .+ is a file/),
      failsWith({ STRATA_DATA: data.path, STRATA_OPT_OUT_FILE: '/nowhere' }, /^strata: cannot read the opt-out list/),
    ]);
  });

  it('is a clear line and exit code 1: a data directory without the right to write', async (test) => {
    await using data = await temporaryDirectory();
    // Root may write everywhere, so the command runs as somebody else then.
    await chmod(data.path, 0o555);
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    if (asNobody.uid !== undefined && spawnSync(process.execPath, ['--version'], asNobody).error) {
      // A checkout below a private folder of root's.
      test.skip('root may write everywhere, and nobody else may run what is here');
      return;
    }
    const env = { ...quiet, STRATA_DATA: data.path };
    const { code, stderr } = await runStrata(['stack', 'serve'], { env, ...asNobody });
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^strata: The database file cannot be opened: check that the directory exists and may be written: .+ belongs to user \d+.* with mode 0555, and this process is of user 65534; give it to the user of the service \(chown\)/,
    );
  });

  it('is a clear line and exit code 1: signing keys that others may read', async () => {
    await using data = await temporaryDirectory();
    const keys = path.join(data.path, 'keys', 'receipts');
    await mkdir(keys, { recursive: true });
    await writeFile(path.join(keys, 'signing-keys.json'), '{}', { mode: 0o644 });
    await failsWith({ STRATA_DATA: data.path }, /^strata: .+signing-keys\.json may be read by others/);
  });
});

describe('strata stack serve', () => {
  it('runs until it is told to stop, and ends with exit code 0; a second one on its data is refused', async () => {
    await using data = await temporaryDirectory();
    const env = {
      STRATA_DATA: data.path,
      STRATA_SCAN: 'off',
      STRATA_ADVISORIES: 'off',
      STRATA_STACK_PORT: '0',
      STRATA_METRICS_PORT: '0',
      STRATA_RESOLVERS: '127.0.0.1:1',
    };
    const { code, signal, stderr } = await runStrata(['stack', 'serve'], {
      env,
      async whileAt({ matched }) {
        const second = await runStrata(['stack', 'serve'], { env });
        assert.equal(second.code, 1, second.stderr);
        assert.match(
          second.stderr,
          /^strata: .+lock is held by process \d+.+: another .+; stop it, or .+STRATA_DATA\n$/,
        );
        const health = await fetch(new URL('/health', matched[1]));
        assert.equal(health.status, 200);
      },
      interruptAt: /"url":"(http:[^"]+)"/,
    });
    assert.deepEqual([code, signal], [0, null], stderr);
    assert.match(stderr, /"msg":"ready"/);
    assert.match(stderr, /"msg":"stopping"/);
  });
});
