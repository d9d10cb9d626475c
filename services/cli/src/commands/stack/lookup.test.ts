// Look-ups from the command line, against a real service: every kind of input, every format, and what cannot be used.
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { liveService } from '../../test/live-service.ts';
import { assertEnds, type RunOptions } from '../../test/run-strata.ts';

describe('strata stack lookup', async () => {
  const { base, key, domain, running } = await liveService();
  await fetch(`${base}/stack/v1/domains/${domain}`, { headers: { 'x-stack-key': key } });
  await running.updateLoop.run();
  const env = { STRATA_URL: base, STRATA_KEY: key };
  const lookup = (args: readonly string[], code = 0, words = /^$/, options: RunOptions = {}) =>
    assertEnds(['stack', 'lookup', ...args], code, words, { env, ...options });

  it('prints a table, or all columns as JSON', async () => {
    const { stdout } = await lookup([domain, 'never-scanned.com', `https://www.${domain}/x`]);
    assert.match(stdout, /^domain +state +sector +grade +dns +mailbox +edge +origin/);
    assert.match(stdout, new RegExp(`\n${domain} +(?:active|parked) .+\nnever-scanned.com +unknown *\n$`));
    const { rows } = JSON.parse((await lookup([domain, '--format', 'json'])).stdout);
    assert.deepEqual([rows.length, rows[0].registrable, Object.keys(rows[0]).length], [1, domain, 40]);
  });

  it('reads files with names or a column of them, and sends long lists as a job, in their order', async () => {
    await using directory = await temporaryDirectory();
    const names = Array.from({ length: 2_001 }, (_, i) => `never-${i}.com`);
    const file = path.join(directory.path, 'names.csv');
    const lines = names.map((name) => `"A, ""B""",${name},x.com`);
    await writeFile(file, `\ufeffname, "Domain" ,note\n${lines.join('\r\n')}`);
    const fields = ['--fields', 'state,domain', '--format'];
    const expected = names.map((name) => `unknown,${name},"A, ""B""",x.com`);
    const bad = path.join(directory.path, 'bad.csv');
    await writeFile(bad, 'domain\na b\n');
    assert.match((await lookup([bad])).stdout, /^domain .+ origin +error *\na b +invalid .*\w/);
    const found = (await lookup([file, ...fields, 'csv'], 0, /^2001 rows of .*names.csv\n$/)).stdout.split('\r\n');
    assert.deepEqual(found, ['state,domain,name,note', ...expected, '']);
    const skipped = /^line 2: skipped 'not a name': .+\nline 3: skipped '7,': The domain name is empty/;
    const input = `9,${domain}\nnot a name\n7,\na.com\n`;
    const { stdout } = await lookup(['-', ...fields, 'ndjson'], 0, skipped, { input });
    const rows = stdout.trimEnd().split('\n');
    const states = rows.map((line) => Object.values(JSON.parse(line)));
    assert.deepEqual(states.slice(1), [['unknown', 'a.com']]);
    assert.equal(states[0]?.[1], domain);
  });

  it('exports a table to a file, and resumes it', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'all.csv');
    const args = ['stack', 'export', 'domains', '--fields', 'domain', '--filter', 'state=live', '--output', file];
    await assertEnds(args, 0, /^.*all\.csv: \d+ bytes\n$/, { env });
    const complete = await readFile(file);
    assert.ok(complete.includes(domain));
    await writeFile(`${file}.part`, complete.subarray(0, 9));
    await rm(file);
    await assertEnds(args, 0, /bytes/, { env });
    assert.deepEqual(await readFile(file), complete);
    await assertEnds(['stack', 'export', 'nothing'], 1, /no resource/, { env });
    await assertEnds(['stack', 'export', 'domains', '--filter', 'provider=no-such'], 2, /Nearest/, { env });
    await assertEnds(['stack', 'export', 'domains', '--filter', 'x'], 2, /NAME=VALUE/, { env });
  });

  it('`strata stack query` prints the domains of a query with facets, and marks an error', async () => {
    const query = (args: readonly string[], code = 0, words = /^1 domain/) =>
      assertEnds(['stack', 'query', ...args], code, words, { env });
    const { stdout } = await query([`domain:${domain}`, '--facets', 'tld']);
    const tld = domain.split('.').pop();
    assert.match(stdout, new RegExp(`^domain +state.+\n${domain} +[^]+\ntld +domains *\n${tld} +1`));
    const json = JSON.parse((await query([`domain:${domain}`, '--format', 'json'], 0, /^$/)).stdout);
    assert.deepEqual([json.total, json.results[0].domain], [1, domain]);
    const csv = (await query([`domain:${domain}`, '--format', 'csv'], 0, /^$/)).stdout;
    assert.match(csv, new RegExp(`^domain,state,.+\r\n${domain},`));
    await query(['a AND (b', '--sort', 'name'], 2, /^a AND \(b\n {6}\^\nstrata: .*character 7.* not closed/);
  });

  it('`strata stack usage` prints the requests of the key', async () => {
    const usage = (days: string, code: number, words: RegExp) =>
      assertEnds(['stack', 'usage', '--days', days], code, words, { env });
    const { stdout } = await usage('1', 0, /^$/);
    assert.match(
      stdout,
      /^\S+ \(\w+, .+\): \d+ requests in 1 day\npath +source +requests +of the quota *\n\/stack\/v1\//,
    );
    await usage('91', 2, /90/);
  });

  type Ended = [args: string[], code: number, words: string, env?: Record<string, string>];
  const ended = casesOf<Ended[]>('cli', 'look-ups that end with a message');
  for (const [args, code, words, more] of [
    ...ended,
    [['a.com'], 2, 'API key is required', { STRATA_URL: base }] as const,
  ])
    it(`ends with ${code} for ${args.join(' ')}: ${words}`, () =>
      assertEnds(['stack', 'lookup', ...args], code, new RegExp(words), { env: more ?? env, input: '' }).then(
        () => {},
      ));
});
