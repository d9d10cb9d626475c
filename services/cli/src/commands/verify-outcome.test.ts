// What `strata stack verify` says of answers that are errors, of CSV and events, and of what is no answer at all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { type LiveService, liveService } from '../test/live-service.ts';
import { runStrata } from '../test/run-strata.ts';

let service: LiveService;
let base: string;
let key: string;
before(async () => {
  service = await liveService();
  ({ base, key } = service);
  await fetch(`${base}/stack/v1/domains/${service.domain}`, { headers: { 'x-stack-key': key } });
});

const verify = (args: readonly string[], env: Record<string, string> = {}) =>
  runStrata(['stack', 'verify', ...args], { env });

async function saved(name: string, content: string): Promise<string> {
  const file = path.join(service.directory, name);
  await writeFile(file, content);
  return file;
}

describe('an answer that is an error', () => {
  it('is verified, and told with its status, code and detail and exit code 3', async () => {
    const url = `${base}/stack/v1/domains/${service.domain}`;
    const wrongKey = await verify([url, '--key', 'ssk_wrong']);
    assert.equal(wrongKey.code, 3, wrongKey.stderr);
    assert.match(wrongKey.stdout, /^ok +content .+(?:\nok +\w+ .+){5}\n$/);
    assert.match(wrongKey.stderr, /^strata: the receipt holds, but the answer is an error: 401 invalid_key: .+\n$/);
    const noKey = await verify([url], { STRATA_KEY: '' });
    assert.deepEqual([noKey.code, / 401 missing_key: /.test(noKey.stderr)], [3, true], noKey.stderr);
    const misspelt = await verify([`${base}/stack/v1/domains/gone-gone-gone.com`, '--json'], { STRATA_KEY: key });
    assert.equal(misspelt.code, 3);
    const { ok, problem } = JSON.parse(misspelt.stdout);
    assert.deepEqual([ok, problem.status, problem.code], [true, 404, 'unknown_domain']);
  });

  it('is told when it was saved', async () => {
    const file = await saved('problem.json', await (await fetch(`${base}/nowhere`)).text());
    const { code, stderr } = await verify([file, '--base', base]);
    assert.equal(code, 3);
    assert.match(stderr, /the answer is an error: 404 not_found/);
  });
});

describe('a CSV answer', () => {
  const csvUrl = () => `${base}/stack/v1/security/export.csv`;

  /** The files that the command in the help makes. */
  async function savedCsv(): Promise<{ csv: string; headers: string; provenance: string; content: string }> {
    const response = await fetch(csvUrl(), { headers: { 'x-stack-key': key } });
    const content = await response.text();
    const dump = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return {
      content,
      csv: await saved('file.csv', content),
      // A proxy's own response stands before the one that counts.
      headers: await saved(
        'headers.txt',
        `HTTP/1.1 200 Connection established\r\nContent-Type: x\r\n\r\nHTTP/2 200\r\n${dump}\r\n`,
      ),
      provenance: await saved('provenance.json', response.headers.get('stack-provenance') ?? ''),
    };
  }

  it('is verified from its URL', async () => {
    const { code, stdout, stderr } = await verify([csvUrl()], { STRATA_KEY: key });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, /^ok +content .+(?:\nok +\w+ .+){5}\n$/);
  });

  it('is verified from a file beside its headers, or beside the provenance alone', async () => {
    const { csv, headers, provenance } = await savedCsv();
    for (const beside of [headers, provenance]) {
      const { code, stdout, stderr } = await verify([csv, '--provenance', beside, '--base', base]);
      assert.deepEqual([code, stderr], [0, ''], stdout);
    }
  });

  it('does not hold when a cell, or the type it was sent as, is altered', async () => {
    const { content, headers, csv } = await savedCsv();
    const altered = await saved('altered.csv', content.replace('domain', 'Domain'));
    const { code, stdout, stderr } = await verify([altered, '--provenance', headers, '--base', base]);
    assert.equal(code, 1);
    assert.match(stdout, /\nFAILED signature /);
    assert.equal(stderr, "strata: the receipt does not hold: step 'signature' failed\n");
    const { provenance } = await savedCsv();
    const line = await readFile(provenance, 'utf8');
    const typed = await saved('typed.txt', `HTTP/1.1 200 OK\nStack-Provenance: ${line}\nContent-Type: text/html\n`);
    assert.equal((await verify([csv, '--provenance', typed, '--base', base])).code, 1);
  });

  it('is told from a refusal that was saved in its place', async () => {
    const response = await fetch(csvUrl());
    const body = await saved('refused.csv', await response.text());
    const headers = await saved(
      'refused.txt',
      `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n`,
    );
    const { code, stderr } = await verify([body, '--provenance', headers, '--base', base]);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /401 missing_key/);
  });

  it('asks for the headers where there are none, and for others where they are of no use', async () => {
    const { csv, provenance } = await savedCsv();
    const alone = await verify([csv, '--base', base]);
    assert.deepEqual([alone.code, alone.stdout], [2, '']);
    assert.match(alone.stderr, /file\.csv' is not a JSON answer; for CSV give its headers too: --provenance/);
    const useless: [args: string[], says: RegExp][] = [
      [[csv, '--provenance', csv], /holds neither the headers of an answer nor the JSON/],
      [[csv, '--provenance', path.join(service.directory, 'none.txt')], /there is no file '.+none\.txt'/],
      [[csvUrl(), '--provenance', provenance], /a URL brings its own headers/],
      [['-', '--provenance', '-'], /cannot be both/],
    ];
    for (const [args, says] of useless) {
      const { code, stderr } = await verify([...args, '--base', base]);
      assert.deepEqual([code, says.test(stderr)], [2, true], stderr);
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
  /** Runs the command; it must print no step, and one line that matches. */
  async function says(args: string[], code: number, line: RegExp): Promise<void> {
    const outcome = await verify(args);
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], outcome.stderr);
    assert.match(outcome.stderr, line);
    assert.equal(outcome.stderr.split('\n').length, 2, outcome.stderr);
  }

  it('is told as what it is: no such file, a directory, not JSON', async () => {
    const directory = path.join(service.directory, 'folder');
    await mkdir(directory);
    const text = await saved('notes.txt', 'hello');
    await says(['/nowhere/at-all.json'], 2, /^strata: there is no file '\/nowhere\/at-all\.json'/);
    await says(['example.com/stack/v1/stats'], 2, /there is no file 'example\.com.+'; a URL begins with http/);
    await says([directory], 2, /folder' is a directory/);
    await says([text, '--base', base], 2, /notes\.txt' is not a JSON answer/);
    await says([await saved('bare.json', '{"a":1}'), '--base', base], 1, /there is no receipt to verify/);
    await says(['/dev/zero'], 2, /is larger than 64 MiB/);
    await says([text, '--base', 'nowhere'], 2, /--base is the URL of a service/);
    await says([`${base}/health`, '--key', 'ssk_ü\n'], 2, /characters that no key has/);
  });

  it('is told as what it is: a service that cannot be reached, or that is another', async () => {
    const page = createServer((_request, response) => response.writeHead(502).end('<html>')).listen(0, '127.0.0.1');
    await once(page, 'listening');
    const at = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    await says([`${at}/stack/v1/stats`], 1, /the answer \(status 502\) is not JSON and has no receipt/);
    await new Promise((closed) => page.close(closed));
    await says([`${at}/stack/v1/stats`], 4, /^strata: not verified: .+cannot be reached: nothing listens there\.\n$/);
    const file = await saved('health.json', await (await fetch(`${base}/health`)).text());
    const unreached = await verify([file, '--base', at]);
    assert.equal(unreached.code, 4);
    assert.match(unreached.stderr, /nothing listens there\. --base names the service/);
  });

  it('has help that names the key, the way to save CSV, and every exit code', async () => {
    const { stdout } = await verify(['--help']);
    for (const part of ['--key', 'STRATA_KEY', 'curl -D headers.txt -o file.csv', '--provenance']) {
      assert.ok(stdout.includes(part), part);
    }
    assert.deepEqual(
      [...stdout.matchAll(/^ {2}(\d) {2}\S/gm)].map(([, code]) => Number(code)),
      [0, 1, 2, 3, 4],
    );
    const secret = await verify(['--help'], { STRATA_KEY: 'ssk_secret' });
    assert.doesNotMatch(secret.stdout, /ssk_secret/);
  });
});
