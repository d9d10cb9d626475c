import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runStrata } from '../test/run-strata.ts';

const explain = (input: string) => runStrata(['stack', 'explain'], { input });
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('strata stack explain', () => {
  it('answers each record with its services and the evidence for them', async () => {
    const record = {
      domain: 'example.com',
      ns: ['amir.ns.cloudflare.com', 'uma.ns.cloudflare.com'],
      mx: [{ preference: 1, exchange: 'aspmx.l.google.com' }],
      txt: ['v=spf1 include:_spf.google.com ~all'],
    };
    const { code, stdout, stderr } = await explain(`${JSON.stringify(record)}\r\n\n{"domain":"bare.org"}`);
    assert.deepEqual([code, stderr], [0, '']);
    const [first, second, ...rest] = linesOf(stdout);
    assert.equal(rest.length, 0);
    assert.deepEqual(Object.keys(first), ['domain', 'services']);
    const found = first.services.map((each: Record<string, unknown>) => `${each.category} ${each.provider}`);
    assert.ok(found.includes('dns Cloudflare') && found.includes('email Google Workspace'), found.join());
    for (const each of first.services) assert.ok(each.confidence && each.evidence.length > 0);
    assert.deepEqual(second, { domain: 'bare.org', services: [] });
  });

  it('answers a bad line with its number and goes on; the exit code tells of it', async () => {
    const bad = ['nonsense', 'null', '{"domain":5}', '{"domain":"x.com","ns":7}', `"${'x'.repeat(8 * 1024 * 1024)}"`];
    const { code, stdout, stderr } = await explain(`${bad.join('\n')}\n{"domain":"good.com"}\n`);
    assert.equal(code, 1);
    const lines = linesOf(stdout);
    assert.equal(lines.length, bad.length + 1);
    lines.slice(0, -1).forEach((line, i) => {
      assert.equal(line.line, i + 1);
      assert.match(line.error, i === 4 ? /longer than 8 MiB/ : /./);
    });
    assert.equal(lines.at(-1).domain, 'good.com');
    assert.match(stderr, /^strata: 5 records could not be read\n$/);
  });

  it('survives nesting without end, and names that objects inherit', async () => {
    const deep = `{"domain":"x.com","txt":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const proto = '{"domain":"x.com","__proto__":{"polluted":1},"headers":{"__proto__":"x","constructor":"y"}}';
    const lines = linesOf((await explain(`${deep}\n${proto}`)).stdout);
    assert.equal(lines.length, 2);
    for (const line of lines) assert.ok('services' in line || 'error' in line);
  });

  it('names each unknown field once, and explains the rest all the same', async () => {
    const lines = [
      { domain: 'x.com', nameservers: ['a.example'], mx: [{ preference: 1, exchange: 'a.example', host: 1 }] },
      { domain: 'y.com', nameservers: [], mx: [{ preference: 1, exchange: 'b.example', host: 2 }] },
      { domain: 'z.com', a: [{ address: '192.0.2.1', asname: 'X' }], '\u001b[31m': 1 },
      JSON.parse('{"domain":"x.com","__proto__":1}'),
    ];
    const { code, stdout, stderr } = await explain(lines.map((line) => JSON.stringify(line)).join('\n'));
    assert.deepEqual([code, linesOf(stdout).length], [0, 4], stdout);
    assert.deepEqual(stderr.trimEnd().split('\n'), [
      'line 1: the field "nameservers" is unknown and ignored',
      'line 1: the field "mx[].host" is unknown and ignored',
      'line 3: the field "\\u001b[31m" is unknown and ignored',
      'line 3: the field "a[].asname" is unknown and ignored',
      'line 4: the field "__proto__" is unknown and ignored',
    ]);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]));
    const told = (await explain(`${JSON.stringify({ domain: 'x.com', ...many })}\n`)).stderr.trimEnd().split('\n');
    assert.equal(told.length, 21);
    assert.equal(told.at(-1), 'more fields are unknown and not named here');
  });

  it('has help with an example that works and a record with every field, all of them known', async () => {
    const { stdout } = await runStrata(['stack', 'explain', '--help']);
    const example = /echo '(\{.+\})' \| strata stack explain/.exec(stdout)?.[1] ?? assert.fail(stdout);
    const answered = await explain(example);
    assert.equal(linesOf(answered.stdout)[0].services[0].provider, 'Google Workspace');
    const record = /Fields[^:]+:\s+(\{[\s\S]+\})/.exec(stdout)?.[1] ?? assert.fail(stdout);
    const all = await explain(record.replaceAll('\n', ' '));
    assert.deepEqual([all.code, all.stderr], [0, ''], all.stdout);
    assert.match((await explain('{}')).stderr, /^strata: 1 record could not be read\n$/);
  });

  it('has nothing to say to nothing', async () => {
    assert.deepEqual(await explain(''), { code: 0, stdout: '', stderr: '' });
    assert.equal((await explain('\n  \n')).stdout, '');
  });
});
