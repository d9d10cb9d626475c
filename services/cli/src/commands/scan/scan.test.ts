// Scanning lists from the command line, against the simulated internet's resolver. Its sites are out of reach: DNS alone.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { liveService } from '../../test/live-service.ts';
import { assertEnds, type RunOptions } from '../../test/run-strata.ts';

async function scanner() {
  const data = await temporaryDirectory();
  const { internet } = await liveService();
  const { address, port } = internet.resolver;
  const settings = { STRATA_DATA: data.path, STRATA_RESOLVERS: `${address}:${port}`, STRATA_LOG_LEVEL: 'fatal' };
  return {
    ...{ ...data, internet },
    scan: (args: readonly string[], code = 0, words = /^/, { env, ...options }: RunOptions = {}) =>
      assertEnds(['stack', 'scan', ...args], code, words, { ...options, env: { ...settings, ...env } }),
    async write(name: string, text: string) {
      const file = path.join(data.path, name);
      await writeFile(file, text);
      return file;
    },
  };
}

it('strata stack scan scans a file with invalid lines, skips recent scans the second time, and scans again with --force', async () => {
  await using setting = await scanner();
  const { scan, write, internet } = setting;
  const [a, b, c] = internet.domains();
  const good = ['\uFEFF# companies', `1,${a}`, `https://www.${b}/about?x=1 # b`, '', a?.toUpperCase()];
  const lines = [...good, 'not a name', '192.0.2.1', `${c}.`, '../etc', 'a'.repeat(5_000), ''];
  const file = await write('list.txt', lines.join('\r\n'));
  const bad =
    /^line 6: skipped 'not a name': .+\nline 7: skipped '192\.0\.2\.1': .+IP address.*\nline 9: skipped '\.\.\/etc': .+\nline 10: skipped 'a{100}'/;
  const first = await scan([file, '--json'], 0, bad);
  const summary = JSON.parse(first.stdout);
  assert.equal(summary.scanned, 3);
  assert.ok(summary.categories.some((each: { category: string }) => each.category === 'dns'));
  assert.match(first.stderr, /3 of 3 domains, [\d.]+\/s, 0 s left/);

  const second = await scan([file], 0, /skipped 3 of 3 domains, scanned recently/);
  assert.match(second.stdout, /^0 domains in /);
  const forced = JSON.parse((await scan([file, '--json', '--force'])).stdout);
  assert.deepEqual([forced.scanned, forced.changes], [3, 0]);
});

it('strata stack scan accepts names, files and standard input, prints a table, and uses the singular for one', async () => {
  await using setting = await scanner();
  const { scan, write, internet } = setting;
  const [a = '', b = '', d = '', e = ''] = internet.domains().slice(5);
  const table = /^2 domains in [\d.]+ s \(\d+\/s\): .+; \d+ changes\n\ncategory +domains +most frequent/;
  assert.match((await scan([a, a.toUpperCase(), `www.${b}`])).stdout, table);
  const piped = await scan(['-', '--json'], 0, /^/, { input: `${a}\nno-such-company.com` });
  assert.deepEqual(JSON.parse(piped.stdout).states, { nonexistent: 1 });

  const file = await write('one.txt', `${d}\nco.uk\n`);
  assert.match((await scan([file], 0, /1 of 1 domain, /)).stdout, /^1 domain in /);
  const left = /skipped 1 of 2 domains, scanned recently; --force scans all of them/;
  const both = await scan([file, `https://${e}/about`], 0, left);
  assert.match(both.stdout, /^1 domain in .+; \d+ changes?\n/);
});

it('strata stack scan reports a missing file as a usage error, not as a domain', async () => {
  await using setting = await scanner();
  const { scan, path: directory, internet } = setting;
  const [a = ''] = internet.domains();
  const none = /line 1: skipped 'co\.uk': .+\nstrata: no domains to scan\n$/;
  await scan(['-'], 1, none, { input: 'co.uk\n# x\n' });
  const refused = casesOf<[string, string][]>('cli', 'refused targets of scans');
  for (const [target, says] of [...refused, [`${directory}/`, 'is a directory, not a file'] as const])
    assert.equal((await scan([a, target], 2, new RegExp(says))).stdout, '');
});

it('strata stack scan gives advice when DNS does not answer, and fails when nothing could be measured', async () => {
  await using setting = await scanner();
  const env = { STRATA_RESOLVERS: '127.0.0.1:1' };
  const unmeasured = /\nstrata: nothing could be measured: no DNS query was answered\n$/;
  const { stdout, stderr } = await setting.scan(['example.com', '--json'], 1, unmeasured, { env });
  assert.match(stderr, /^DNS does not answer, .+STRATA_RESOLVERS.+`npm run demo`/m);
  assert.deepEqual(JSON.parse(stdout).states, { unmeasured: 1 });
});

it('strata stack scan is interrupted by SIGINT with exit code 130, and then scans the rest', async () => {
  await using setting = await scanner();
  const { internet } = setting;
  const domains = internet.domains().slice(0, 50);
  const args = [await setting.write('list.txt', domains.join('\n')), '--json'];
  // One after the other, until the resolver is asked about this one.
  const [eleventh = ''] = (domains[10] ?? '').split('.');
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const { port, address } = internet.resolver;
  await using resolver = createSocket('udp4', (query, from) => {
    if (query.includes(eleventh)) resolve();
    const forwarded = createSocket('udp4', (answer) => {
      resolver.send(answer, from.port, from.address);
      forwarded.close();
    });
    forwarded.send(query, port, address);
  });
  await once(resolver.bind(0, '127.0.0.1'), 'listening');
  const env = { STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}`, STRATA_SCAN_OPTIONS: 'concurrency=1' };
  const first = await setting.scan(args, 130, /^/, { env, interruptOn: isAsked });
  const done = JSON.parse(first.stdout).scanned;
  assert.ok(done >= 10 && done < 50, String(done));
  assert.match(first.stderr, new RegExp(`strata: interrupted: ${50 - done} domains not scanned`));
  const second = await setting.scan(args, 0, /^/, { env: { STRATA_SCAN_OPTIONS: 'concurrency=64' } });
  assert.equal(JSON.parse(second.stdout).scanned, 50 - done);
});
