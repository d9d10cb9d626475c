// Both services in one process: what `strata start` tells each of the other, and how they end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readGatewayConfig } from '@strata/gateway';
import { readConfig } from '@strata/stack';
import { succeed, temporaryDirectory } from '../test/run-strata.ts';
import { whereBothAre } from './start.ts';

describe('both services', () => {
  const on = { STRATA_NETWORK: 'on' };
  const all = { STRATA_HOST: '0.0.0.0' };
  const named = { STRATA_CHAT_URL: 'https://chat.example/', STRATA_EXPLORER_URL: 'https://stack.example' };
  const explorer = 'http://127.0.0.1:8787';
  for (const [what, env, chat, stack] of [
    ['each other to readers', on, 'http://127.0.0.1:8788', explorer],
    ['IPv6', { ...on, STRATA_HOST: '::1', STRATA_STACK_PORT: '80' }, 'http://[::1]:8788', 'http://[::1]:80'],
    ['no chat where nothing is served', {}, undefined, explorer],
    ['no chat at a port that is not known', { ...on, STRATA_INFERENCE_PORT: '0' }, undefined, explorer],
    ['nothing that a reader cannot open', { ...on, ...all }, undefined, undefined],
    ['what the settings say', { ...named, ...all }, 'https://chat.example', 'https://stack.example'],
  ] as const)
    it(`name ${what}`, () => {
      const { stack: ofStack, inference } = whereBothAre(readConfig(env), readGatewayConfig(env));
      assert.deepEqual([ofStack.chatUrl, inference.explorerUrl], [chat, stack]);
    });

  it('are told to balancers as stopping side by side, and answer until the time for that is over', async () => {
    await using directory = await temporaryDirectory();
    const DRAIN_SECONDS = 1;
    const looks: { readonly ready: readonly string[]; readonly health: readonly number[] }[] = [];
    let watching: Promise<void> | undefined;
    const watch = async (bases: readonly string[]) => {
      for (;;) {
        const asked = (path: string) => Promise.all(bases.map((base) => fetch(`${base}${path}`)));
        const answers = await Promise.all([asked('/ready'), asked('/health')]).catch(() => undefined);
        if (!answers) return;
        const states = answers[0].map(async (answer) => ((await answer.json()) as { status: string }).status);
        looks.push({ ready: await Promise.all(states), health: answers[1].map(({ status }) => status) });
        await delay(10);
      }
    };
    await succeed('start', {
      env: {
        ...{ STRATA_DATA: directory.path, STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_STACK_PORT: '0' },
        ...{ STRATA_INFERENCE_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_NETWORK: 'on', STRATA_MDNS: 'off' },
        ...{ STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_DRAIN_SECONDS: String(DRAIN_SECONDS) },
      },
      interruptAt: /^(?=[\s\S]*"url":"(http:[^"]+)\/v1")(?=[\s\S]*"url":"(http:[^"]+)\/","metricsPort")/,
      whileAt: async ({ matched: [, chat = '', stack = ''] }) => {
        watching = watch([stack, chat]);
      },
    });
    await watching;
    const both = looks.filter(({ ready }) => ready.every((state) => state === 'stopping'));
    // Far more than one look where the machine is free; in turn there would be none.
    assert.ok(both.length >= 3, JSON.stringify(looks));
    assert.ok(looks.every(({ health }) => health.every((status) => status === 200)));
  });
});
