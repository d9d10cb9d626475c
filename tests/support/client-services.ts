// Both services for tests of the client: a stack that has scanned its companies, and a gateway with a small model.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { startTestStack, type TestStack } from './running-stack.ts';

export interface ScannedStack extends AsyncDisposable {
  readonly stack: TestStack;
  readonly domains: readonly string[];
  /** Gives companies another DNS provider and has that told. Returns who moved. */
  move(count: number): Promise<string[]>;
}

export async function startScannedStack(): Promise<ScannedStack> {
  const stack = await startTestStack({ config: { confirmAfterMs: 0 } });
  const { internet } = stack;
  const domains = [...internet.domains()];
  const scan = (names: readonly string[]) =>
    stack.running.service.app.scanner.runAll(names, { onDone: () => {}, signal: new AbortController().signal });
  await stack.running.service.app.store.addDomains(domains, { source: 'test' });
  await scan(domains);
  await stack.running.service.app.pulse.now();
  const dnsOf = (name: string) => internet.truth(name).services.filter(({ category }) => category === 'dns');
  return {
    stack,
    domains,
    async move(count) {
      const isActive = (name: string) => internet.truth(name).state === 'active';
      const moved = domains.filter((name) => isActive(name) && dnsOf(name).length === 1).slice(0, count);
      for (const name of moved)
        internet.migrate(name, { category: 'dns', to: dnsOf(name)[0]?.provider === 'ns1' ? 'dnsimple' : 'ns1' });
      for (let look = 0; look < 2; look += 1) {
        await scan(moved);
        // The second look has to be a later moment than the first.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await stack.running.service.app.pulse.now();
      return moved;
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

export interface TestGateway extends AsyncDisposable {
  readonly baseUrl: string;
  readonly key: string;
}

export async function startTestGateway(): Promise<TestGateway> {
  await using owned = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-client-'));
  owned.defer(() => rm(directory, { recursive: true, force: true }));
  const config = readGatewayConfig({
    STRATA_DATA: directory,
    STRATA_INFERENCE_PORT: '0',
    STRATA_MODEL: tinyChatModel,
  });
  const { gateway, port } = owned.use(await startGateway(config, createLogger({ level: 'silent' })));
  const { key } = await gateway.keys.create({ tier: 'unlimited' });
  const kept = owned.move();
  return { key, baseUrl: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
