import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { assertEnds, jsonOf, succeed } from '../../test/run-strata.ts';

/** The answers of a command that ends with this code and message. */
async function explain(input: string, code = 0, words = /^$/) {
  const { stdout } = await assertEnds('stack explain', code, words, { input });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

it('strata stack explain answers each record with its services and the evidence for them', async () => {
  const record = casesOf('cli', 'record to explain');
  const [first, ...rest] = await explain(`${JSON.stringify(record)}\r\n\n{"domain":"bare.org"}`);
  assert.deepEqual(Object.keys(first), ['domain', 'services']);
  const found = first.services.map((each: Record<string, unknown>) => `${each.category} ${each.provider}`);
  assert.ok(found.includes('dns Cloudflare') && found.includes('email Google Workspace'), found.join());
  for (const each of first.services) assert.ok(each.confidence && each.evidence.length > 0);
  assert.deepEqual(rest, [{ domain: 'bare.org', services: [] }]);
});

it('strata stack explain reports an invalid line with its number and continues; the exit code reports it', async () => {
  const bad = ['nonsense', 'null', '{"domain":5}', '{"domain":"x.com","ns":7}', `"${'x'.repeat(8 * 1024 * 1024)}"`];
  bad.push(`{"domain":"x.com","txt":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
  const unread = /^strata: 6 records could not be read\n$/;
  const lines = await explain(`${bad.join('\n')}\n{"domain":"good.com"}\n`, 1, unread);
  assert.equal(lines.pop().domain, 'good.com');
  assert.equal(lines.length, bad.length);
  for (const [i, { line, error }] of lines.entries()) {
    assert.equal(line, i + 1);
    assert.match(error, i === 4 ? /longer than 8 MiB/ : /./);
  }
  await explain('{}', 1, /^strata: 1 record could not be read\n$/);
});

it('strata stack explain reports each unknown field once, and explains the rest', async () => {
  const lines = [
    { domain: 'x.com', nameservers: ['a.example'], mx: [{ preference: 1, exchange: 'a.example', host: 1 }] },
    { domain: 'y.com', nameservers: [], mx: [{ preference: 1, exchange: 'b.example', host: 2 }] },
    { domain: 'z.com', a: [{ address: '192.0.2.1', asname: 'X' }], '\u001b[31m': 1 },
    JSON.parse('{"domain":"x.com","__proto__":1}'),
  ];
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]));
  const namedOf = async (input: string) => (await succeed('stack explain', { input })).stderr.trimEnd().split('\n');
  const ignored = await namedOf(lines.map((line) => JSON.stringify(line)).join('\n'));
  assert.deepEqual(ignored, casesOf<string[]>('cli', 'ignored fields'));
  const named = await namedOf(`${JSON.stringify({ domain: 'x.com', ...many })}\n`);
  assert.deepEqual([named.length, named.at(-1)], [21, 'further unknown fields are not listed']);
});

it('strata stack explain has help with an example that works and a record with every field, all of them known', async () => {
  const { stdout } = await succeed('stack explain --help');
  const example = /echo '(\{.+\})' \| strata stack explain/.exec(stdout)?.[1] ?? assert.fail(stdout);
  assert.equal((await explain(example))[0].services[0].provider, 'Google Workspace');
  const record = /Fields[^:]+:\s+(\{[\s\S]+\})/.exec(stdout)?.[1] ?? assert.fail(stdout);
  await explain(record.replaceAll('\n', ' '));
  for (const nothing of ['', '\n  \n']) assert.deepEqual(await explain(nothing), []);
});

const set = casesOf<object>('cli', 'technologies');

it('strata stack fingerprints reports the contents and rejected patterns of a set, without control characters; explain uses it', async () => {
  await using folder = await temporaryDirectory();
  const file = path.join(folder.path, 'own.json');
  await writeFile(file, JSON.stringify(set));
  const { stdout } = await assertEnds(`stack fingerprints ${folder.path}`, 0, /^$/);
  for (const line of [
    ...['technologies +3', 'usable technologies +2', 'technologies in the catalog +1', 'rejected patterns +1'],
    ...['js 2', 'dns.other 1', 'unusable technologies: Hidden', 'WordPress +scriptSrc +a lookaround'],
  ])
    assert.match(stdout, new RegExp(line));
  assert.ok(!stdout.includes('\u001b'));
  const missing = /^strata: cannot read the fingerprints .*none: it does not exist/;
  await assertEnds('stack fingerprints /nowhere/none', 1, missing);

  const { problems, ...report } = await jsonOf(`stack fingerprints --json ${file}`);
  const merges = [{ technology: 'WordPress', provider: 'wordpress', by: 'name' }];
  const counts = { technologies: 3, usable: 2, addedProviders: 2, needsSource: false };
  assert.partialDeepStrictEqual(report, { ...counts, merges });
  assert.deepEqual([problems.length, problems[0].technology], [1, 'WordPress']);

  const input = '{"domain": "example.com", "headers": {"x-acme": "1.2.3"}}\n';
  const explained = await jsonOf(`stack explain --fingerprints ${file}`, { input });
  const [service] = explained.services;
  assert.deepEqual([service.provider, service.provider_id, service.version], ['Acme', 'acme', '1.2.3']);
  assert.deepEqual(await jsonOf('stack explain', { input, env: { STRATA_FINGERPRINTS: file } }), explained);
  assert.deepEqual(JSON.parse((await succeed('stack explain', { input })).stdout).services, []);
});
