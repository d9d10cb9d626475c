// Receipts of a real service, verified from the command line; packages/receipts and packages/client prove how each step fails.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { verifyUrl } from '@strata/client';
import { rotateSigningKeys } from '@strata/log';
import { type LiveService, liveService } from '../test/live-service.ts';
import { closedAddress, fakeService } from '../test/mcp-client.ts';
import { runStrata } from '../test/run-strata.ts';

const ALL_STEPS = /^ok +content .+\nok +key .+\nok +signature .+\nok +leaf .+\nok +inclusion .+\nok +checkpoint .+\n$/;

let service: LiveService;
let base: string;
let key: string;
let domainUrl: string;
before(async () => {
  service = await liveService();
  ({ base, key } = service);
  domainUrl = `${base}/stack/v1/domains/${service.domain}`;
  // Proofs have siblings only in a tree of some size.
  for (let i = 0; i < 5; i += 1) await fetch(`${base}/problems/nothing-${i}`);
});

const verify = (args: readonly string[], env: Record<string, string> = {}, input = '') =>
  runStrata(['stack', 'verify', ...args], { env, input });

async function saved(name: string, content: string): Promise<string> {
  const file = path.join(service.directory, name);
  await writeFile(file, content);
  return file;
}

describe('the receipt of a live answer', () => {
  it('holds on every signed route, and on problems', async () => {
    const problems = ['/nowhere', '/stack/v1/domains/com', '/stack/v1/domains/gone-gone-gone.com', '/problems/x'];
    for (const url of [`${base}/health`, domainUrl, `${domainUrl}/changes`, ...problems.map((at) => base + at)]) {
      const result = await verifyUrl(url, { key });
      assert.ok(result.ok, `${url}: ${JSON.stringify(result.steps)}`);
      assert.equal(result.steps.length, 6);
    }
    const { code, stdout, stderr } = await verify([domainUrl], { STRATA_KEY: key });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, ALL_STEPS);
  });

  it('holds in a file or on standard input, and does not when a byte was altered', async () => {
    const made = await saved('key.json', await (await fetch(`${base}/keys`, { method: 'POST' })).text());
    assert.equal((await verify([made, '--base', base])).code, 0);
    const text = await (await fetch(`${base}/health`)).text();
    const piped = await verify(['-', '--base', base, '--json'], {}, text);
    assert.deepEqual([piped.code, JSON.parse(piped.stdout).ok], [0, true]);
    const altered = await verify([await saved('altered.json', text.replace('"ok"', '"oK"')), '--base', base]);
    assert.equal(altered.code, 1);
    assert.match(altered.stdout, /^ok +content .+\nok +key .+\nFAILED signature /);
    assert.equal(altered.stderr, "strata: the receipt does not hold: step 'signature' failed\n");
  });

  it('still holds after a rotation, under the retired key, and new answers hold under the new one', async () => {
    const old = await (await fetch(`${base}/health`)).text();
    const file = await saved('old.json', old);
    const [keyId] = await rotateSigningKeys(service.directory, () => new Date());
    await service.running.service.app.ledger.reload();
    assert.equal((await verify([file, '--base', base])).code, 0);
    const fresh = await verifyUrl(`${base}/nowhere`);
    assert.ok(fresh.ok);
    const { provenance } = fresh.answer as { provenance: { key_id: string } };
    assert.equal(provenance.key_id, keyId);
    assert.notEqual(JSON.parse(old).provenance.key_id, keyId);
  });
});

describe('an answer that is an error', () => {
  it('is verified, and told with its status, code and detail and exit code 3', async () => {
    const wrongKey = await verify([domainUrl, '--key', 'ssk_wrong']);
    assert.equal(wrongKey.code, 3, wrongKey.stderr);
    assert.match(wrongKey.stdout, ALL_STEPS);
    assert.match(wrongKey.stderr, /^strata: the receipt holds, but the answer is an error: 401 invalid_key: .+\n$/);
    const noKey = await verify([domainUrl], { STRATA_KEY: '' });
    assert.deepEqual([noKey.code, / 401 missing_key: /.test(noKey.stderr)], [3, true], noKey.stderr);
    const misspelt = await verify([`${base}/stack/v1/domains/gone-gone-gone.com`, '--json'], { STRATA_KEY: key });
    const { ok, problem } = JSON.parse(misspelt.stdout);
    assert.deepEqual([misspelt.code, ok, problem.status, problem.code], [3, true, 404, 'unknown_domain']);
    const kept = await verify([await saved('x.json', await (await fetch(`${base}/nowhere`)).text()), '--base', base]);
    assert.equal(kept.code, 3);
    assert.match(kept.stderr, /the answer is an error: 404 not_found/);
  });
});

describe('a CSV answer', () => {
  const csvUrl = () => `${base}/stack/v1/security/export.csv`;

  /** The files that the command in the help makes. */
  async function savedCsv() {
    const response = await fetch(csvUrl(), { headers: { 'x-stack-key': key } });
    const content = await response.text();
    const dump = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    // A proxy's own response stands before the one that counts.
    const proxy = 'HTTP/1.1 200 Connection established\r\nContent-Type: x\r\n\r\n';
    return {
      content,
      csv: await saved('file.csv', content),
      headers: await saved('headers.txt', `${proxy}HTTP/2 200\r\n${dump}\r\n`),
      provenance: await saved('provenance.json', response.headers.get('stack-provenance') ?? ''),
    };
  }

  it('is verified from its URL, and from a file beside its headers, or beside the provenance alone', async () => {
    const { csv, headers, provenance } = await savedCsv();
    for (const args of [[csvUrl()], [csv, '--provenance', headers], [csv, '--provenance', provenance]]) {
      const { code, stdout, stderr } = await verify([...args, '--base', base], { STRATA_KEY: key });
      assert.deepEqual([code, stderr], [0, ''], stdout);
      assert.match(stdout, ALL_STEPS);
    }
  });

  it('does not hold when a cell, or the type it was sent as, is altered', async () => {
    const { content, headers, csv, provenance } = await savedCsv();
    const altered = await saved('altered.csv', content.replace('domain', 'Domain'));
    const { code, stdout } = await verify([altered, '--provenance', headers, '--base', base]);
    assert.equal(code, 1);
    assert.match(stdout, /\nFAILED signature /);
    const line = await readFile(provenance, 'utf8');
    const typed = await saved('typed.txt', `HTTP/1.1 200 OK\nStack-Provenance: ${line}\nContent-Type: text/html\n`);
    assert.equal((await verify([csv, '--provenance', typed, '--base', base])).code, 1);
  });

  it('asks for the headers where there are none, and for others where they are of no use', async () => {
    const { csv, provenance } = await savedCsv();
    const refused = await saved('refused.csv', await (await fetch(csvUrl())).text());
    const refusal = await saved(
      'refused.txt',
      'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n',
    );
    const twice = await saved('twice.txt', 'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n');
    for (const [args, code, words] of [
      [[csv], 2, /file\.csv' is not a JSON answer; for CSV give its headers too: --provenance/],
      [[csv, '--provenance', csv], 2, /holds neither the headers of an answer nor the JSON/],
      [[csv, '--provenance', twice], 2, /has Stack-Provenance or Content-Type twice/],
      [[csv, '--provenance', '/none.txt'], 2, /there is no file '\/none\.txt'/],
      [[csvUrl(), '--provenance', provenance], 2, /a URL brings its own headers/],
      [['-', '--provenance', '-'], 2, /cannot be both/],
      [[refused, '--provenance', refusal], 3, /401 missing_key/],
    ] as const) {
      const outcome = await verify([...args, '--base', base]);
      assert.equal(outcome.code, code, outcome.stderr);
      assert.match(outcome.stderr, words);
    }
  });
});

describe('an event of the stream', () => {
  it('is verified as a file that holds its JSON', async () => {
    const { notary } = service.running.service.app.ledger;
    const event = await notary.sign({ id: 'ev_0000000001', type: 'migration', domain: service.domain });
    const { code, stdout, stderr } = await verify([await saved('event.json', JSON.stringify(event)), '--base', base]);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    const stream = await verify([`${base}/stack/v1/stream`], { STRATA_KEY: key });
    assert.equal(stream.code, 4);
    assert.match(stream.stderr, /is a stream without an end; each of its events has a receipt/);
  });
});

describe('what is no answer', () => {
  it('is reported as what it is, in one line and with no step', async () => {
    const folder = path.join(service.directory, 'folder');
    await mkdir(folder);
    const text = await saved('notes.txt', 'hello');
    const bare = await saved('bare.json', '{"a":1}');
    const health = await saved('health.json', await (await fetch(`${base}/health`)).text());
    await using page = await fakeService((_request, response) => response.writeHead(502).end('<html>'));
    const nothing = await closedAddress();
    for (const [args, code, words] of [
      [['/nowhere/at-all.json'], 2, /^strata: there is no file '\/nowhere\/at-all\.json'/],
      [['example.com/stack/v1/stats'], 2, /there is no file 'example\.com.+'; a URL begins with http/],
      [[folder], 2, /folder' is a directory/],
      [[text, '--base', base], 2, /notes\.txt' is not a JSON answer/],
      [[bare, '--base', base], 1, /there is no receipt to verify/],
      [['/dev/zero'], 2, /is larger than 64 MiB/],
      [[text, '--base', 'nowhere'], 2, /--base is the URL of a service/],
      [[`${base}/health`, '--key', 'ssk_ü\n'], 2, /characters that no key has/],
      [[`${page.base}/stack/v1/stats`], 1, /the answer \(status 502\) is not JSON and has no receipt/],
      [[`${nothing}/stack/v1/stats`], 4, /^strata: not verified: .+cannot be reached: nothing listens there\.\n$/],
    ] as const) {
      const outcome = await verify(args);
      assert.deepEqual([outcome.code, outcome.stdout], [code, ''], outcome.stderr);
      assert.match(outcome.stderr, words);
      assert.equal(outcome.stderr.split('\n').length, 2, outcome.stderr);
    }
    const unreached = await verify([health, '--base', nothing]);
    assert.equal(unreached.code, 4);
    assert.match(unreached.stderr, /nothing listens there\. --base names the service/);
  });

  it('has help that names the key, the way to save CSV, and every exit code', async () => {
    const { stdout } = await verify(['--help'], { STRATA_KEY: 'ssk_secret' });
    for (const part of ['--key', 'STRATA_KEY', 'curl -D headers.txt -o file.csv', '--provenance'])
      assert.ok(stdout.includes(part), part);
    const codes = [...stdout.matchAll(/^ {2}(\d) {2}\S/gm)].map(([, code]) => Number(code));
    assert.deepEqual(codes, [0, 1, 2, 3, 4]);
    assert.doesNotMatch(stdout, /ssk_secret/);
  });
});
