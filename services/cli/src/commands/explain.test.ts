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
    const bad = [
      'nonsense',
      '[]',
      'null',
      '"text"',
      '{}',
      '{"domain":5}',
      '{"domain":"a b"}',
      '{"domain":"x.com","ns":7}',
    ];
    const { code, stdout, stderr } = await explain(`${bad.join('\n')}\n{"domain":"good.com"}\n`);
    assert.equal(code, 1);
    const lines = linesOf(stdout);
    assert.equal(lines.length, bad.length + 1);
    lines.slice(0, -1).forEach((line, i) => {
      assert.equal(line.line, i + 1, bad[i]);
      assert.ok(line.error.length > 0);
    });
    assert.equal(lines.at(-1).domain, 'good.com');
    assert.match(stderr, /^strata: 8 records could not be read\n$/);
  });

  it('survives hostile values', async () => {
    const long = 'a'.repeat(70_000);
    const hostile = [
      { domain: 'x.com', txt: [long, '\u0000\ud800', `v=spf1 ${'include:a.com '.repeat(500)}`], dmarc: ';;;=' },
      { domain: 'x.com', headers: { constructor: 'x', server: `${'('.repeat(5_000)}` }, html: '<'.repeat(200_000) },
      { domain: 'x.com', cname: { 'www.x.com': 'www.x.com' }, caa: ['', '"'], cookies: ['', long] },
      { domain: 'x.com', a: [{ address: '999.1.1.1', asn: -1, as_name: '' }] },
    ].map((record) => JSON.stringify(record));
    const deep = `{"domain":"x.com","txt":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const proto = '{"domain":"x.com","__proto__":{"polluted":1},"headers":{"__proto__":"x"}}';
    const { code, stdout } = await explain([...hostile, deep, proto].join('\n'));
    assert.ok(code === 0 || code === 1);
    const lines = linesOf(stdout);
    assert.equal(lines.length, 6);
    for (const line of lines) assert.ok('services' in line || 'error' in line);
  });

  it('has nothing to say to nothing', async () => {
    assert.deepEqual(await explain(''), { code: 0, signal: null, stdout: '', stderr: '' });
    assert.equal((await explain('\n  \n')).stdout, '');
  });

  it('ends quietly when nobody reads any more', async () => {
    const input = `${'{"domain":"x.com"}\n'.repeat(5_000)}`;
    const { code, stderr } = await runStrata(['stack', 'explain'], { input, closesOutput: true });
    assert.deepEqual([code, stderr], [0, '']);
  });
});
