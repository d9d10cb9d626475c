// Receipts of a real service on the simulated internet, verified as a user does, whole and tampered with.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { verifyUrl } from '@strata/client';
import { rotateSigningKeys } from '@strata/log';
import { type LiveService, liveService } from '../test/live-service.ts';
import { runStrata } from '../test/run-strata.ts';

let service: LiveService;
let base: string;
let key: string;
let domain: string;
let directory: string;
before(async () => {
  service = await liveService();
  ({ base, key, domain, directory } = service);
  // Proofs have siblings only in a tree of some size.
  for (let i = 0; i < 5; i += 1) await fetch(`${base}/problems/nothing-${i}`);
});

/** A fetch between client and service that alters what comes from one path. */
function tampering(on: RegExp, alter: (text: string) => string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const url = String(input instanceof Request ? input.url : input);
    if (!on.test(url)) return response;
    const text = await response.text();
    const altered = alter(text);
    assert.notEqual(altered, text, `nothing was altered in ${url}`);
    return new Response(altered, { status: response.status, headers: response.headers });
  };
}

/** Another character of the same alphabet at a place: the smallest change. */
const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
const flipAfter = (text: string, mark: string, skip = 0) => flip(text, text.indexOf(mark) + mark.length + skip);

describe('the receipt of a live answer', () => {
  const paths = () => [
    '/health',
    `/stack/v1/domains/${domain}`,
    `/stack/v1/domains/${domain}/changes`,
    '/problems/not_found',
  ];

  it('holds on every signed route, and on problems', async () => {
    const problems = ['/nowhere', '/stack/v1/domains/com', '/stack/v1/domains/gone-gone-gone.com', '/problems/x'];
    for (const at of [...paths(), ...problems]) {
      const result = await verifyUrl(base + at, { key });
      assert.ok(result.ok, `${at}: ${JSON.stringify(result.steps)}`);
      assert.equal(result.steps.length, 6);
    }
    const made = await fetch(`${base}/keys`, { method: 'POST' });
    const file = path.join(directory, 'key.json');
    await writeFile(file, await made.text());
    assert.equal((await runStrata(['stack', 'verify', file, '--base', base])).code, 0);
  });

  const receipts = /\/ledger\/receipts\//;
  const keySet = /stack-keys\.json$/;
  const cases: [what: string, step: string, on: RegExp, alter: (text: string) => string][] = [
    ['a byte of the body', 'signature', /\/health$/, (text) => text.replace('"ok"', '"oK"')],
    ['a time of the receipt', 'signature', /\/health$/, (text) => text.replace(/("signed_at":"20)\d/, '$19')],
    ['the signature', 'signature', /\/health$/, (text) => flipAfter(text, 'ed25519:', 5)],
    ['the id of the key', 'key', /\/health$/, (text) => flipAfter(text, '"key_id":"', 3)],
    ['the public key', 'key', keySet, (text) => flipAfter(text, '"x":"', 3)],
    ['the leaf', 'leaf', receipts, (text) => flipAfter(text, '"leaf":"', 20)],
    ['a hash of the proof', 'inclusion', receipts, (text) => flipAfter(text, '"proof":["', 3)],
    ['the place in the tree', 'inclusion', receipts, (text) => text.replace(/"index":\d+/, '"index":0')],
  ];
  for (const [what, step, on, alter] of cases) {
    it(`does not hold when somebody alters ${what}: the step '${step}' fails`, async () => {
      await fetch(`${base}/health`);
      const target = `${base}/stack/v1/domains/${domain}`;
      const url = on.source.includes('health') ? `${base}/health` : target;
      const result = await verifyUrl(url, { key, fetch: tampering(on, alter) });
      assert.deepEqual([result.ok, result.failedStep], [false, step], JSON.stringify(result.steps.at(-1)));
    });
  }

  it('does not hold when somebody alters the checkpoint: its root, its size or its signature', async () => {
    const alterations: ((lines: string[]) => string[])[] = [
      ([origin = '', size = '', root = '', ...rest]) => [origin, size, flip(root, 4), ...rest],
      ([origin = '', size = '', ...rest]) => [origin, String(Number(size) + 1), ...rest],
      (lines) => lines.map((line) => (line.startsWith('—') ? flip(line, line.length - 8) : line)),
      ([origin = '', ...rest]) => [`${origin}x`, ...rest],
    ];
    for (const alter of alterations) {
      const fetch = tampering(receipts, (text) => {
        const receipt = JSON.parse(text);
        return JSON.stringify({ ...receipt, checkpoint: alter(receipt.checkpoint.split('\n')).join('\n') });
      });
      const result = await verifyUrl(`${base}/stack/v1/domains/${domain}`, { key, fetch });
      assert.equal(result.ok, false);
      assert.ok(['inclusion', 'checkpoint'].includes(result.failedStep ?? ''), result.failedStep ?? '');
    }
  });

  it('still holds after a rotation, under the retired key, and new answers hold under the new one', async () => {
    const old = await (await fetch(`${base}/health`)).text();
    const file = path.join(directory, 'old.json');
    await writeFile(file, old);
    const [keyId] = await rotateSigningKeys(directory, () => new Date());
    await service.running.service.app.ledger.reload();
    const saved = await runStrata(['stack', 'verify', file, '--base', base, '--json']);
    assert.equal(saved.code, 0, saved.stdout + saved.stderr);
    const fresh = await verifyUrl(`${base}/nowhere`);
    assert.ok(fresh.ok);
    const { provenance } = fresh.answer as { provenance: { key_id: string } };
    assert.equal(provenance.key_id, keyId);
    assert.notEqual(JSON.parse(old).provenance.key_id, keyId);
  });
});

describe('strata stack verify', () => {
  it('verifies a URL with a key and prints each step', async () => {
    const { code, stdout, stderr } = await runStrata(['stack', 'verify', `${base}/stack/v1/domains/${domain}`], {
      env: { STRATA_KEY: key },
    });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    const steps = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 2).join(' '));
    assert.deepEqual(
      steps,
      ['content', 'key', 'signature', 'leaf', 'inclusion', 'checkpoint'].map((step) => `ok ${step}`),
    );
  });

  it('verifies a saved answer from a file or standard input, and names the step when a byte was altered', async () => {
    const text = await (await fetch(`${base}/health`)).text();
    const piped = await runStrata(['stack', 'verify', '-', '--base', base, '--json'], { input: text });
    assert.deepEqual([piped.code, JSON.parse(piped.stdout).ok], [0, true]);

    const file = path.join(directory, 'altered.json');
    await writeFile(file, text.replace('1.10.2', '1.10.3'));
    const altered = await runStrata(['stack', 'verify', file, '--base', base]);
    assert.equal(altered.code, 1);
    assert.match(altered.stdout, /^ok +content .+\nok +key .+\nFAILED signature /);
    assert.equal(altered.stderr, "strata: the receipt does not hold: step 'signature' failed\n");
  });
});
