// Settings of the environment, of a file and of files for secrets, as commands see them.

import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../tests/support/index.ts';
import { problemsOf } from '../commands/operations/config.ts';
import { assertEnds, runStrata, succeed } from '../test/run-strata.ts';
import { findSettings } from './settings.ts';
import { parseSettingsFile } from './settings-file.ts';
import { SECRETS, SERVICES, tableOf } from './tables.ts';

/** Lines of the file, environment, what holds then, and the number of warnings. */
type FormerCase = [string[], Record<string, string>, Record<string, string>, number];

async function folder() {
  const directory = await temporaryDirectory();
  const write = async (name: string, text: string, mode = 0o644) => {
    const file = path.join(directory.path, name);
    await writeFile(file, text, { mode });
    return file;
  };
  return { ...directory, write, config: (...lines: string[]) => write('strata.yaml', `${lines.join('\n')}\n`) };
}

/** Each pattern matches exactly one problem, and each problem one pattern. */
function assertProblems(problems: readonly string[], patterns: readonly (RegExp | string)[]) {
  for (const pattern of patterns.map((each) => new RegExp(each)))
    assert.equal(problems.filter((each) => pattern.test(each)).length, 1, `${pattern}\n${problems.join('\n')}`);
  assert.equal(problems.length, patterns.length, problems.join('\n'));
}

it('the settings file has the same values as the environment', () => {
  const lines = ['stack_port: 8080', 'scan: off', 'feeds: true', 'resolvers: [192.0.2.1, 192.0.2.2]', 'sectors:'];
  const { entries, problems } = parseSettingsFile([...lines, 'contact_url: "https://x.test/"', ''].join('\n'));
  assert.deepEqual(problems, []);
  const read = entries.map(({ key, value, line }) => `${line} ${key} ${value}`).join('; ');
  const first = '1 stack_port 8080; 2 scan off; 3 feeds on; 4 resolvers 192.0.2.1,192.0.2.2';
  assert.equal(read, `${first}; 6 contact_url https://x.test/`);
  assert.deepEqual(parseSettingsFile('{"host": "::1"}').entries, [{ key: 'host', value: '::1', line: 1 }]);
  assert.deepEqual(parseSettingsFile(''), { entries: [], problems: [] });
  // The options of a setting may be a map.
  const lists = new Set(['p2p']);
  const options = parseSettingsFile('p2p: { mdns: false, listen: [/ip4/a, /ip4/b], relay: }', lists);
  assert.equal(options.entries[0]?.value, 'mdns=off,listen=/ip4/a,/ip4/b,relay=');
  const nested = parseSettingsFile('p2p: { listen: { a: 1 } }', lists).problems;
  assert.deepEqual(nested, ['line 1: p2p: must be a value or a list of values, or a map of options']);
});

it('a settings file that cannot be read is reported by line', () => {
  for (const [text, problem] of casesOf<[string, string][]>('cli', 'settings files with a problem'))
    assert.match(parseSettingsFile(text).problems[0] ?? '', new RegExp(problem), text);
});

describe('settings', () => {
  it('come from the environment before the file', async () => {
    await using files = await folder();
    const file = await files.config('stack_port: 8080', 'host: 192.0.2.1');
    const { given } = await findSettings({ STRATA_CONFIG: file, STRATA_STACK_PORT: '9090', STRATA_HOST: ' ' }, 'stack');
    assert.deepEqual(given.get('STRATA_STACK_PORT'), { value: '9090', source: 'environment' });
    assert.deepEqual(given.get('STRATA_HOST'), { value: '192.0.2.1', source: `${file}:2` });
  });

  it('take secrets from files that the environment or the settings file names, relative to the settings file', async () => {
    await using files = await folder();
    const secret = await files.write('secret', 'of-the-file\n', 0o600);
    for (const name of SECRETS) {
      const { given } = await findSettings({ [`${name}_FILE`]: secret }, 'gateway');
      assert.deepEqual(given.get(name), { value: 'of-the-file', source: `file ${secret}` });
      assert.equal(given.has(`${name}_FILE`), false);
    }
    const { given } = await findSettings({ STRATA_CONFIG: await files.config('database_url_file: secret') }, 'stack');
    assert.equal(given.get('STRATA_DATABASE_URL')?.value, 'of-the-file');
  });

  it('that cannot be used are all reported at once', async () => {
    await using files = await folder();
    const lines = ['stak_port: 1', 'STRATA_HOST: x', 'scan-options: on-demand=off', 'scan_option: { on-demand: off }'];
    const { problems } = await findSettings(
      {
        ...{ STRATA_CONFIG: await files.config(...lines), STRATA_METRIC_PORT: '1' },
        ...{ STRATA_NVD_API_KEY: 'x', STRATA_NVD_API_KEY_FILE: await files.write('secret', 'x') },
        STRATA_HF_TOKEN_FILE: path.join(files.path, 'none'),
        STRATA_DATABASE_URL_FILE: files.path,
        STRATA_JOIN_FILE: await files.write('empty', '\n'),
        STRATA_UPSTREAM_KEY_FILE: await files.write('large', 'x'.repeat(70_000)),
      },
      'stack',
    );
    assertProblems(problems, casesOf('cli', 'unknown settings'));
  });

  it('are not matched by names of object properties', async () => {
    await using files = await folder();
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'constructor.prototype.x'];
    const config = await files.config(...names.map((name) => `${name}: 1`));
    const { problems } = await findSettings({ STRATA_CONFIG: config }, 'stack');
    const patterns = names.map((_, i) => new RegExp(`strata\\.yaml:${i + 1}: `));
    assertProblems(problems, patterns);
    assert.notDeepEqual(parseSettingsFile('__proto__:\n  polluted: 1\n"__proto__": [1]\n').problems, []);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
  });

  it('with a name like a secret are secrets', async () => {
    for (const service of SERVICES)
      for (const name of Object.keys((await tableOf(service)).shape))
        if (/(?<!_PER_)(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$/.test(name)) assert.ok(SECRETS.has(name), name);
  });
});

describe('strata config', () => {
  const password = 'hunter-2';

  it('prints effective values with their sources, and no secret', async () => {
    await using files = await folder();
    const config = await files.config('stack_port: 8080', 'hf_token: hf-hidden', 'queue: 7');
    const url = await files.write('url', `postgres://strata:${password}@db.test/strata?password=${password}`);
    const [given, printed] = casesOf<Record<string, string>[]>('cli', 'settings with credentials');
    const env = { STRATA_CONFIG: config, STRATA_DATABASE_URL_FILE: url, ...given };
    const { stdout } = await assertEnds('config print --json', 0, /^$/, { env });
    assert.doesNotMatch(stdout, new RegExp(`${password}|hf-hidden`));
    const rows = JSON.parse(stdout) as { name: string; value: string; source: string; services: string[] }[];
    const row = (name: string) => rows.find((each) => each.name === name);
    assert.partialDeepStrictEqual(row('STRATA_STACK_PORT'), { value: '8080', source: `${config}:1` });
    for (const [name, value] of Object.entries(printed ?? {})) assert.equal(row(name)?.value, value);
    assert.deepEqual(row('STRATA_QUEUE')?.services, ['gateway', 'worker']);
    assert.partialDeepStrictEqual(row('STRATA_SCAN'), { value: 'on', source: 'default' });
    const table = await succeed('config print --service stack', { env });
    assert.match(table.stdout, /STRATA_STACK_PORT +8080 +\S+strata\.yaml:1 +stack/);
    assert.doesNotMatch(table.stdout, /STRATA_MODEL/);
  });

  it('and every command refuse a password that ends the address of a database too early, without repeating it', async () => {
    await using files = await folder();
    const url = `postgres://strata:${password}/x@127.0.0.1:1/strata`;
    const env = { STRATA_DATA: files.path, STRATA_DATABASE_URL: url, STRATA_INFERENCE_DATABASE_URL: url };
    for (const [command, names] of Object.entries({
      ...{ 'config check': ['STRATA_DATABASE_URL', 'STRATA_INFERENCE_DATABASE_URL'], doctor: ['STRATA_DATABASE_URL'] },
      ...{ 'stack keys list': ['STRATA_DATABASE_URL'], 'inference gateway': ['STRATA_INFERENCE_DATABASE_URL'] },
      [`stack migrate-store ${url}`]: ['the URL of the database'],
    })) {
      const { code, stdout, stderr } = await runStrata(command, { env: command.includes(url) ? {} : env });
      const printed = stdout + stderr;
      for (const name of names)
        assert.match(
          printed,
          new RegExp(`${name}:? (?:must have the form|cannot be parsed as|cannot be read as) .* percent-encode`),
        );
      assert.ok(code === 1 || code === 2, String(code));
      assert.doesNotMatch(printed, new RegExp(`${password}|unexpected|^ +at `, 'm'));
    }
  });

  it('checks the settings of every service, and reports all problems with where they come from', async () => {
    await using files = await folder();
    const first = ['stack_port: 99999', 'model_options: { slots: 0 }', 'nonsense_here: 1'];
    const STRATA_CONFIG = await files.config(...first, 'limits: { connections: 17 }');
    const limits = { STRATA_LIMITS: 'connections=18, connections = 19' };
    const env = { STRATA_CONFIG, STRATA_SCAN: 'perhaps', STRATA_STACK_PROT: '1', ...limits };
    const { stdout } = await assertEnds('config check', 1, /^/, { env });
    assertProblems(stdout.trim().split('\n'), casesOf('cli', 'checked settings'));
    for (const command of ['stack serve', 'config print'])
      await assertEnds(command, 2, /STRATA_STACK_PROT: unknown setting/, { env: { STRATA_STACK_PROT: '1' } });
    const good = await succeed('config check --json', { env: { STRATA_STACK_PORT: '8080' } });
    assert.deepEqual(JSON.parse(good.stdout), { ok: true, problems: [], warnings: [] });
    // Names of earlier versions do not stop a start.
    const former = { STRATA_DATA: files.path, STRATA_FEED_CONCURRENCY: '4', STRATA_SCAN_DAYS: '99' };
    const old = await succeed('config check', { env: former });
    assert.match(old.stdout, /^warning: STRATA_FEED_CONCURRENCY has no effect any more: sixteen feeds are /m);
    const lines =
      /^strata: .+ STRATA_FEED_CONCURRENCY has no .+\n.+ is an item of STRATA_RETENTION_DAYS now: write scans=… there\nstrata: data/;
    await assertEnds('stack keys list', 1, lines, { env: former });
    // It refuses what tracing would refuse at the start.
    const exporter = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    for (const [env, code, words] of [
      [{ ...exporter, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 1, /^OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' is not /m],
      [{ ...exporter, OTEL_TRACES_SAMPLER: 'some' }, 1, /^OTEL_TRACES_SAMPLER: unknown sampler 'some'/m],
      [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 0, /^the settings are valid$/m],
    ] as const)
      assert.match((await assertEnds('config check', code, /^/, { env })).stdout, words);
  });

  it('keeps the effect of former settings, and adds the options of the environment to those of the file', async () => {
    await using files = await folder();
    for (const [lines, env, expected, count] of casesOf<FormerCase[]>('cli', 'former settings')) {
      const STRATA_CONFIG = await files.config(...lines);
      const { given, problems, warnings } = await findSettings({ ...env, STRATA_CONFIG }, 'gateway');
      assert.deepEqual([problems, warnings.length], [[], count], warnings.join('\n'));
      const values = Object.fromEntries([...given].map(([name, { value }]) => [name, value]));
      assert.deepEqual(values, { ...expected, STRATA_CONFIG });
      assert.deepEqual(await problemsOf(SERVICES, { ...env, STRATA_CONFIG }), []);
    }
  });

  it('warns, like doctor, about a secret that every user of the machine can read', async () => {
    await using files = await folder();
    const file = await files.write('url', `postgres://strata:${password}@127.0.0.1:1/strata\n`);
    const env = { STRATA_DATA: files.path, STRATA_DATABASE_URL_FILE: file };
    const words = new RegExp(`^warning:? .*STRATA_DATABASE_URL_FILE: ${file} is readable by every user`, 'm');
    for (const isOpen of [true, false]) {
      await chmod(file, isOpen ? 0o644 : 0o640);
      const checked = await succeed('config check', { env });
      const doctor = await runStrata('doctor --service stack', { env });
      for (const { stdout } of [checked, doctor]) {
        assert.equal(words.test(stdout.replaceAll(/ +/g, ' ')), isOpen, stdout);
        assert.doesNotMatch(stdout, new RegExp(password));
      }
    }
  });
});
