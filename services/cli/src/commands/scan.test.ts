// Scanning lists from the command line, against the simulated internet's resolver. Its sites are out of reach: DNS alone.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { liveService } from '../test/live-service.ts';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

describe('strata stack scan', () => {
  let internet: Internet;
  before(async () => {
    ({ internet } = await liveService());
  });

  const settings = (directory: string) => ({
    STRATA_DATA: directory,
    STRATA_RESOLVERS: `${internet.resolver.address}:${internet.resolver.port}`,
    STRATA_LOG_LEVEL: 'fatal',
  });

  it('scans a file with bad lines, leaves out the second time what it has, and scans again by --force', async () => {
    await using data = await temporaryDirectory();
    const [a, b, c] = internet.domains();
    const file = path.join(data.path, 'list.txt');
    await writeFile(
      file,
      `# companies\n1,${a}\nhttps://www.${b}/about\n\n${a?.toUpperCase()}\nnot a name\n192.0.2.1\n${c}.\n`,
    );
    const scan = (...args: string[]) => runStrata(['stack', 'scan', file, ...args], { env: settings(data.path) });

    const first = await scan('--json');
    assert.equal(first.code, 0, first.stderr);
    const summary = JSON.parse(first.stdout);
    assert.equal(summary.scanned, 3);
    assert.ok(summary.categories.some((each: { category: string }) => each.category === 'dns'));
    assert.match(
      first.stderr,
      /^line 6: "not a name" is left out: .+\nline 7: "192\.0\.2\.1" is left out: .+IP address/,
    );
    assert.match(first.stderr, /3 of 3 domains, [\d.]+\/s, 0 s left/);

    const second = await scan();
    assert.equal(second.code, 0);
    assert.match(second.stderr, /3 of 3 domains were scanned lately and are left out/);
    assert.match(second.stdout, /^0 domains in /);
    const forced = JSON.parse((await scan('--json', '--force')).stdout);
    assert.deepEqual([forced.scanned, forced.changes], [3, 0]);
  });

  it('takes names, files and standard input, shows a table, and counts one as one', async () => {
    await using data = await temporaryDirectory();
    const [a = '', b = '', d = '', e = ''] = internet.domains().slice(5);
    const env = settings(data.path);
    const named = await runStrata(['stack', 'scan', a, `www.${b}`], { env });
    assert.equal(named.code, 0, named.stderr);
    assert.match(
      named.stdout,
      /^2 domains in [\d.]+ s \(\d+\/s\): .+; \d+ changes\n\ncategory +domains +most frequent/,
    );
    const piped = await runStrata(['stack', 'scan', '-', '--json'], { env, input: `${a}\nno-such-company.com` });
    assert.equal(piped.code, 0);
    assert.deepEqual(JSON.parse(piped.stdout).states, { nonexistent: 1 });

    const file = path.join(data.path, 'one.txt');
    await writeFile(file, `${d}\nco.uk\n`);
    const one = await runStrata(['stack', 'scan', file], { env });
    assert.equal(one.code, 0, one.stderr);
    assert.match(one.stdout, /^1 domain in /);
    assert.match(one.stderr, /1 of 1 domain, /);
    const both = await runStrata(['stack', 'scan', file, `https://${e}/about`], { env });
    assert.equal(both.code, 0, both.stderr);
    assert.match(both.stdout, /^1 domain in .+; \d+ changes?\n/);
    assert.match(both.stderr, /1 of 2 domains was scanned lately and is left out \(--force scans it too\)/);
  });

  it('takes what looks like a file and is none for wrong use, not for a domain', async () => {
    await using data = await temporaryDirectory();
    const [a = ''] = internet.domains();
    const env = settings(data.path);
    const none = await runStrata(['stack', 'scan', '-'], { env, input: 'co.uk\n# x\n' });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /line 1: "co\.uk" is left out: .+\nstrata: there is no domain to scan\n$/);
    const wrong: [target: string, says: RegExp][] = [
      ['missing.txt', /^strata: there is no file 'missing\.txt'\n$/],
      ['Top-1000.CSV', /there is no file/],
      ['lists/example.com', /there is no file 'lists\/example\.com'/],
      ['./domains', /there is no file/],
      [`${data.path}/`, /is a directory, not a file/],
      ['not a name', /'not a name' is neither a file nor a domain: ./],
      ['192.0.2.1', /'192\.0\.2\.1' is neither a file nor a domain: .+IP address/],
      ['co.uk', /'co\.uk' is neither a file nor a domain/],
    ];
    for (const [target, says] of wrong) {
      const { code, stdout, stderr } = await runStrata(['stack', 'scan', a, target], { env });
      assert.deepEqual([code, stdout, says.test(stderr)], [2, '', true], `${target}: ${stderr}`);
    }
  });

  it('gives advice when DNS does not answer, and fails when nothing could be measured', async () => {
    await using data = await temporaryDirectory();
    const env = { ...settings(data.path), STRATA_RESOLVERS: '127.0.0.1:1' };
    const { code, stdout, stderr } = await runStrata(['stack', 'scan', 'example.com', '--json'], { env });
    assert.equal(code, 1, stderr);
    assert.deepEqual(JSON.parse(stdout).states, { unmeasured: 1 });
    assert.match(stderr, /^DNS does not answer: .+STRATA_RESOLVERS.+`npm run demo`/m);
    assert.match(stderr, /\nstrata: nothing could be measured: no question to DNS was answered\n$/);
  });

  it('is interrupted by SIGINT with exit code 130, and goes on with what is left', async () => {
    await using data = await temporaryDirectory();
    const file = path.join(data.path, 'list.txt');
    const domains = internet.domains().slice(0, 50);
    await writeFile(file, domains.join('\n'));
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
    const env = { ...settings(data.path), STRATA_SCAN_CONCURRENCY: '1' };
    const args = ['stack', 'scan', file, '--json'];
    const first = await runStrata(args, {
      env: { ...env, STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}` },
      interruptOn: isAsked,
    });
    assert.equal(first.code, 130, first.stderr);
    const done = JSON.parse(first.stdout).scanned;
    assert.ok(done >= 10 && done < 50, String(done));
    assert.match(first.stderr, new RegExp(`strata: interrupted: ${50 - done} domains are left`));

    const second = await runStrata(args, { env: { ...env, STRATA_SCAN_CONCURRENCY: '64' } });
    assert.equal(second.code, 0, second.stderr);
    assert.equal(JSON.parse(second.stdout).scanned, 50 - done);
  });
});
