// Two gateways of one database behind nginx and HAProxy, as the files of deploy/proxy configure them: streams are not
// buffered, and a gateway that is killed costs new requests nothing that a client's own retries do not cover.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { postgres } from '../../../services/gateway/src/store/test/backends.ts';
import { root } from '../../support/deployed.ts';
import { freePort } from '../../support/free-port.ts';
import { Cluster } from '../../support/network/cluster.ts';
import { type StreamAsk, streamOf } from '../../support/network/streams.ts';
import { until, untilAnswer } from '../../support/until.ts';

/** By name of the file in deploy/proxy: the program, and what it is started with. */
const PROXIES = {
  'nginx.conf': {
    program: 'nginx',
    version: '-v',
    args: (file: string) => ['-e', 'stderr', '-c', file],
    /** The file is one of those that nginx includes. */
    whole: (site: string) => `daemon off; pid ${site}.pid; events {} http { access_log off; include ${site}; }`,
  },
  'haproxy.cfg': {
    program: 'haproxy',
    version: '-v',
    args: (file: string) => ['-db', '-f', file],
    whole: undefined,
  },
} as const;
const ask = (tokens: number, seed: number): StreamAsk => ({ prompt: [300, 500], seed, tokens });

for (const [file, { program, version, args, whole }] of Object.entries(PROXIES)) {
  const isMissing = spawnSync(program, [version]).status !== 0;
  const skip = postgres.skip || (isMissing && `${program} is not installed`);

  describe(`gateways behind ${program}`, { skip }, () => {
    it('stream through it, and one that is killed fails no new request', { timeout: 600_000 }, async () => {
      await using cluster = await Cluster.open();
      const settings = { STRATA_INFERENCE_DATABASE_URL: await postgres.empty(), STRATA_TRUSTED_PROXIES: '127.0.0.1' };
      const simulated = { tokensPerSecond: 100, slots: 32 };
      const keys = (name: string) => path.join(cluster.directory, name, 'inference/keys');
      const one = await cluster.startGateway({ name: 'one', settings, simulated });
      await cp(keys('one'), keys('two'), { recursive: true });
      const two = await cluster.startGateway({ name: 'two', settings, simulated });

      const port = await freePort();
      const addresses = [one, two, two].map(({ ready }) => `127.0.0.1:${ready.port}`);
      const text = (await readFile(path.join(root, 'deploy/proxy', file), 'utf8'))
        .replaceAll(/10\.0\.0\.([123]):8788/g, (_, n) => addresses[n - 1] ?? '')
        .replace(/\b8080\b/, String(port));
      const site = path.join(cluster.directory, file);
      await writeFile(site, text);
      const main = whole ? `${site}.main` : site;
      if (whole) await writeFile(main, whole(site));
      const proxy = spawn(program, args(main), { stdio: ['ignore', 'inherit', 'inherit'] });
      try {
        const baseURL = `http://127.0.0.1:${port}/v1`;
        const client = new OpenAI({ baseURL, apiKey: one.ready.key });
        await untilAnswer('the proxy', () => fetch(`${baseURL}/models`).catch(() => undefined));
        const slow = await streamOf(client, ask(200, 1));
        assert.ok(slow.firstTokenMs < slow.totalMs / 2, JSON.stringify(slow));

        let killed: Promise<void> | undefined;
        const counts = { completed: 0, broken: 0, failed: 0 };
        const load = Array.from({ length: 8 }, async (_, lane) => {
          for (let n = 0; n < 30; n += 1) {
            const isBefore = killed === undefined;
            const isDone = await streamOf(client, ask(20, 100 * lane + n)).then(
              () => true,
              () => false,
            );
            counts[isDone ? 'completed' : isBefore ? 'broken' : 'failed'] += 1;
          }
        });
        await until(() => counts.completed >= 40);
        killed = one.kill();
        await Promise.all([killed, ...load]);
        assert.equal(counts.failed, 0, JSON.stringify(counts));
        assert.ok(counts.broken <= 8 && counts.completed >= 232, JSON.stringify(counts));
      } finally {
        const ended = once(proxy, 'exit');
        proxy.kill('SIGTERM');
        await ended;
      }
    });
  });
}
