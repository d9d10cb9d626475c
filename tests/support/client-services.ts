// A stack service that has scanned its companies, for tests of clients.
import { moveDnsOf, scanTwice, startHarness } from '../../services/stack/src/test/harness.ts';
import { sharedInternet } from '../../services/stack/src/test/shared.ts';

export type ScannedStack = Awaited<ReturnType<typeof startScannedStack>>;

export async function startScannedStack() {
  const internet = await sharedInternet();
  const service = await startHarness({ internet, settings: { STRATA_SCAN_OPTIONS: 'confirm-hours=0' } });
  const update = () => service.running.updateLoop.run();
  await service.scan(...internet.domains());
  await update();
  return {
    service,
    internet,
    key: await service.newKey(),
    /** Gives companies another DNS provider and publishes that. Returns the companies. */
    async move(count: number) {
      const moved = moveDnsOf(internet, count).map(({ domain }) => domain);
      await scanTwice(service, ...moved);
      await update();
      return moved;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
