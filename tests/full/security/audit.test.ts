// `.ci/audit` against a registry that speaks npm's protocol: a finding fails it, no finding passes, and a missing answer is reported.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { createGunzip } from 'node:zlib';
import { fakeService, temporaryDirectory } from '../../support/index.ts';

const AUDIT = path.join(import.meta.dirname, '../../../.ci/audit');
/** An advisory in the registry's bulk answer. */
const advisory = (severity: string) => ({
  ...{ id: 1, url: 'https://github.com/advisories/GHSA-xxxx-xxxx-xxxx', title: 'A finding of the test', severity },
  ...{ vulnerable_versions: '>=0.0.0', cwe: [], cvss: { score: 9.8, vectorString: null } },
});

/** Runs the script with a registry that answers the bulk question so, or not at all; gives what it was asked about. */
async function audited(answer: Readonly<Record<string, readonly object[]>> | undefined) {
  const asked: Record<string, readonly string[]> = {};
  await using registry = await fakeService(async (request, response) => {
    const isBulk = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk';
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const body = await text(isPacked ? request.pipe(createGunzip()) : request);
    if (isBulk) Object.assign(asked, JSON.parse(body));
    if (!isBulk || answer === undefined) response.writeHead(404).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await using cache = await temporaryDirectory();
  const env = { ...process.env, npm_config_registry: `${registry.base}/`, npm_config_cache: cache.path };
  const child = spawn(AUDIT, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, out, asked };
}

describe('the audit of what is installed', { timeout: 600_000 }, () => {
  it('fails where something of severity high or critical is known', async () => {
    for (const severity of ['high', 'critical']) {
      const { code, out, asked } = await audited({ fastify: [advisory(severity)] });
      assert.equal(asked.fastify?.length, 1, 'the registry was asked about the version that is installed');
      assert.equal(code, 1, out);
      assert.match(out, /A finding of the test/);
    }
  });

  it('passes where nothing is known, or only what is less grave', async () => {
    for (const answer of [{}, { fastify: [advisory('moderate')] }]) {
      const { code, out } = await audited(answer);
      assert.equal(code, 0, out);
      assert.match(out, /^npm audit: nothing of severity high or critical is known$/m);
    }
  });

  it('reports that it was not checked when the registry does not answer', async () => {
    const { code, out } = await audited(undefined);
    assert.equal(code, 0, out);
    assert.match(out, /^npm audit: NOT CHECKED/m);
  });
});
