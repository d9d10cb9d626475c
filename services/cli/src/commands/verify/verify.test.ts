// Receipts of a real service, from the command line; packages/receipts and packages/client prove how each step fails.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { verifyUrl } from '@strata/client';
import { casesOf, fakeService } from '../../../../../tests/support/index.ts';
import { liveService } from '../../test/live-service.ts';
import { closedAddress } from '../../test/mcp-client.ts';
import { assertEnds, runStrata } from '../../test/run-strata.ts';

const ALL_STEPS =
  /^ok +content .+\nok +key .+\nok +signature .+\nok +leaf .+\nok +inclusion .+\nok +checkpoint .+\nok +consistency .+\n$/;

const service = await liveService();
const { base, key } = service;
const domainUrl = `${base}/stack/v1/domains/${service.domain}`;
// Proofs have siblings only in a tree of some size.
for (let i = 0; i < 5; i += 1) await fetch(`${base}/problems/nothing-${i}`);

/** Runs the command with the key of the service; what it printed. */
const verify = async (args: readonly string[], code = 0, words = /^$/, input = '', env = { STRATA_KEY: key }) =>
  (await assertEnds(['stack', 'verify', '--base', base, ...args], code, words, { env, input })).stdout;
const textOf = async (at: string, init?: RequestInit) => (await fetch(base + at, init)).text();

async function saved(name: string, content: string): Promise<string> {
  const file = path.join(service.directory, name);
  await writeFile(file, content);
  return file;
}

describe('strata stack verify', () => {
  it('verifies live answers of signed routes, and problems', async () => {
    const problems = ['/nowhere', '/stack/v1/domains/com', '/stack/v1/domains/no-such-domain.com', '/problems/x'];
    for (const url of [`${base}/health`, domainUrl, `${domainUrl}/changes`, ...problems.map((at) => base + at)]) {
      const result = await verifyUrl(url, { key });
      assert.ok(result.ok, `${url}: ${JSON.stringify(result.steps)}`);
      assert.equal(result.steps.length, 6);
    }
    assert.match(await verify([domainUrl]), ALL_STEPS);
  });

  it('reads a file or standard input, and rejects an altered byte', async () => {
    await verify([await saved('key.json', await textOf('/keys', { method: 'POST' }))]);
    const text = await textOf('/health');
    assert.equal(JSON.parse(await verify(['-', '--json'], 0, /^$/, text)).ok, true);
    const altered = await saved('altered.json', text.replace('"ok"', '"oK"'));
    const steps = await verify([altered], 1, /^strata: the receipt is not valid: step 'signature' failed\n$/);
    assert.match(steps, /^ok +content .+\nok +key .+\nFAILED signature /);
    // An event of the stream is a file that holds its JSON.
    const { notary } = service.running.app.ledger;
    const event = await notary.sign({ id: 'ev_0000000001', type: 'migration', domain: service.domain });
    assert.match(await verify([await saved('event.json', event)]), ALL_STEPS);
    await verify([`${base}/stack/v1/stream`], 4, /is an endless stream; each of its events has its own receipt/);
  });

  it('verifies an error, and prints it with its status, code and detail and exit code 3', async () => {
    const wrong = /^strata: the receipt is valid, but the answer is an error: 401 invalid_key: .+\n$/;
    assert.match(await verify([domainUrl, '--key', 'ssk_wrong'], 3, wrong), ALL_STEPS);
    await verify([domainUrl], 3, / 401 missing_key: /, '', { STRATA_KEY: '' });
    const unknown = `${base}/stack/v1/domains/no-such-domain.com`;
    const { ok, problem } = JSON.parse(await verify([unknown, '--json'], 3, / 404 unknown_domain: /));
    assert.deepEqual([ok, problem.status, problem.code], [true, 404, 'unknown_domain']);
    await verify([await saved('x.json', await textOf('/nowhere'))], 3, /the answer is an error: 404 not_found/);
  });

  const at = '/stack/v1/security/export.csv';

  /** The files that the command in the help makes. */
  async function savedCsv() {
    const response = await fetch(base + at, { headers: { 'x-stack-key': key } });
    const content = await response.text();
    const dump = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    // The response of a proxy precedes the one that is used.
    const proxy = 'HTTP/1.1 200 Connection established\r\nContent-Type: x\r\n\r\n';
    return {
      content,
      csv: await saved('file.csv', content),
      headers: await saved('headers.txt', `${proxy}HTTP/2 200\r\n${dump}\r\n`),
      provenance: await saved('provenance.json', response.headers.get('stack-provenance') ?? ''),
    };
  }

  it('verifies CSV from its URL, and from a file beside its headers, or beside the provenance alone', async () => {
    const { csv, headers, provenance } = await savedCsv();
    for (const args of [[base + at], [csv, '--provenance', headers], [csv, '--provenance', provenance]])
      assert.match(await verify(args), ALL_STEPS);
  });

  it('rejects CSV where a cell or the content type is altered', async () => {
    const { content, headers, csv, provenance } = await savedCsv();
    const altered = await saved('altered.csv', content.replace('domain', 'Domain'));
    assert.match(await verify([altered, '--provenance', headers], 1, /./), /\nFAILED signature /);
    const line = await readFile(provenance, 'utf8');
    const typed = await saved('typed.txt', `HTTP/1.1 200 OK\nStack-Provenance: ${line}\nContent-Type: text/html\n`);
    await verify([csv, '--provenance', typed], 1, /./);
  });

  it('reports missing headers and headers that cannot be used', async () => {
    const { csv, provenance } = await savedCsv();
    const refused = await saved('refused.csv', await textOf(at));
    const json = 'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n';
    const refusal = await saved('refused.txt', json);
    const twice = await saved('twice.txt', 'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n');
    for (const [file, headers, code, words] of [
      [csv, undefined, 2, /file\.csv' is not a JSON answer; for CSV, pass its headers with --provenance/],
      [csv, csv, 2, /contains neither response headers nor the JSON/],
      [csv, twice, 2, /has more than one Stack-Provenance or Content-Type/],
      [csv, '/none.txt', 2, /file '\/none\.txt' does not exist/],
      [base + at, provenance, 2, /a URL has its own headers/],
      ['-', '-', 2, /only one file can be standard input/],
      [refused, refusal, 3, /401 missing_key/],
    ] as const)
      await verify(headers === undefined ? [file] : [file, '--provenance', headers], code, words);
  });

  it('reports input that is not an answer in one line, without steps', async () => {
    const folder = path.join(service.directory, 'folder');
    await mkdir(folder);
    const text = await saved('notes.txt', 'hello');
    const bare = await saved('bare.json', '{"a":1}');
    await using page = await fakeService((_request, response) => response.writeHead(502).end('<html>'));
    const nothing = await closedAddress();
    const named: Record<string, string> = { FOLDER: folder, TEXT: text, BARE: bare, BASE: base, PAGE: page.base };
    const located = (arg: string) => arg.replace(/^[A-Z]+/, (name) => named[name] ?? nothing);
    for (const [args, code, words] of casesOf<[string[], number, string][]>('cli', 'refused answers'))
      assert.equal(await verify(args.map(located), code, new RegExp(`^${words}\\n$`)), '');
    const health = await saved('health.json', await textOf('/health'));
    await verify([health, '--base', nothing], 4, /nothing listens there\. Set --base to the URL/);
  });

  it('documents the key, CSV and every exit code in its help', async () => {
    const { stdout } = await runStrata('stack verify --help', { env: { STRATA_KEY: 'ssk_secret' } });
    for (const part of ['--key', 'STRATA_KEY', 'curl -D headers.txt -o file.csv', '--provenance'])
      assert.ok(stdout.includes(part), part);
    const codes = [...stdout.matchAll(/^ {2}(\d) {2}\S/gm)].map(([, code]) => code).join('');
    assert.equal(codes, '012345');
    assert.doesNotMatch(stdout, /ssk_secret/);
  });
});
