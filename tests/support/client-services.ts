// A stack service that has scanned its companies, for tests of clients.
import { startHarness } from '../../services/stack/src/test/harness.ts';
import { sharedInternet } from '../../services/stack/src/test/shared.ts';

export type ScannedStack = Awaited<ReturnType<typeof startScannedStack>>;

export async function startScannedStack() {
  const internet = await sharedInternet();
  let offMs = 0;
  const world = { now: () => new Date(Date.now() + offMs) };
  const service = await startHarness({ internet, settings: { STRATA_CONFIRM_AFTER_HOURS: '0' }, world });
  const update = () => service.running.service.app.pulse.now();
  await service.scan(...internet.domains());
  await update();
  return {
    service,
    internet,
    key: await service.newKey(),
    /** Gives companies another DNS provider and publishes that. Returns the companies. */
    async move(count: number) {
      const dnsOf = (name: string) => internet.truth(name).services.filter(({ category }) => category === 'dns');
      const isActive = (name: string) => internet.truth(name).state === 'active';
      const moved = internet.domains().filter((name) => isActive(name) && dnsOf(name).length === 1);
      moved.splice(count);
      for (const name of moved)
        internet.migrate(name, { category: 'dns', to: dnsOf(name)[0]?.provider === 'ns1' ? 'dnsimple' : 'ns1' });
      for (let look = 0; look < 2; look += 1) {
        // The second scan has to be at a later moment than the first.
        offMs += 5;
        await service.scan(...moved);
      }
      await update();
      return moved;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
