// What the test files of this package share within one process: an internet and a scanned service, opened by the first test that asks and
// closed after the last one.
import { shared } from '../../../../tests/support/shared.ts';
import { company, type Harness, smallInternet, startHarness } from './harness.ts';

/** Forty companies, for services that leave them as they are: a test that moves companies takes those of `sharedService`, or what `moveDns` returns. */
export const sharedInternet = shared(smallInternet);

export type SharedService = Awaited<ReturnType<typeof startScanned>>;

/** A service whose kept answers grow older only by `age`. */
export async function startAging(options: Parameters<typeof startHarness>[0]) {
  let nowMs = 0;
  const world = { monotonicNow: () => nowMs, ...options.world };
  const service = await startHarness({ ...options, world });
  /** Lets kept answers grow older: by default, as long as one about many domains is served after a change. */
  const age = (ms = 1_000) => {
    nowMs += ms;
  };
  return { service, age, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** All forty companies are scanned; a second scan confirms a change at once. Tests that change a company use their own. */
export async function startScanned() {
  await using stack = new AsyncDisposableStack();
  const internet = stack.use(await smallInternet());
  const log: string[] = [];
  const settings = {
    STRATA_SCAN_OPTIONS: 'confirm-hours=0',
    STRATA_FREE_KEYS_PER_DAY: '2',
    STRATA_TRUSTED_PROXIES: '127.0.0.1',
    STRATA_CHAT_URL: 'https://chat.example/',
    STRATA_FEEDS: 'off',
  };
  const world = { exampleDomain: () => company(internet, 0) };
  const { service, age } = await startAging({ internet, settings, log, world });
  stack.use(service);
  await service.scan(...internet.domains());
  await service.running.updateLoop.run();
  let addresses = 0;
  const owned = stack.move();
  const more = {
    ...{ internet, log, age },
    /** GET as from another address each time, without a key. */
    fromElsewhere(path: string, { method = 'GET', headers = {} } = {}) {
      addresses += 1;
      const address = `2001:db8:0:${addresses.toString(16)}::1`;
      return service.ask(path, { method, headers: { 'x-forwarded-for': address, ...headers } });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return Object.create(service, Object.getOwnPropertyDescriptors(more)) as Harness & typeof more;
}

export const sharedService = shared(startScanned);
