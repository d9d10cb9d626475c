// The simulated internet in a process of its own, so that its work is not counted as ours; where its days are short, its companies move
// as they pass.
import { createInternet } from '@strata/testnet';
import type { BenchInternet, BenchInternetOptions } from './internet.ts';
import { shortDays } from './load/days.ts';
import { childArgument, reportReady, reportUse } from './measure.ts';

/** How often it checks whether a day has passed. */
const CHECK_EVERY_MS = 250;

const { days, ...options } = childArgument<BenchInternetOptions>();
const now = days ? shortDays(days) : () => new Date();
// A lost packet delays a scan by a second: network faults have their own benches.
const internet = await createInternet({ ...options, now, ...(days ? { vantage: { lossShare: 0 } } : {}) });
const publishers = days ? await internet.advisories() : undefined;
const moving = setInterval(() => {
  const passed = days ? Math.floor((now().getTime() - days.from) / 86_400_000) - internet.day : 0;
  if (passed > 0) internet.advance(passed);
}, CHECK_EVERY_MS);
const web = (port: number) => internet.dial({ address: '8.8.8.8', port }).port;
const ready: BenchInternet = {
  domains: internet.domains(),
  // Listing companies generates them, thousands of candidates included.
  feeds: options.feeds === 0 ? [] : internet.feeds(),
  resolver: internet.resolver,
  caPem: internet.caPem,
  plainPort: web(80),
  securePort: web(443),
  publishers: publishers?.settings ?? {},
};
reportUse();
reportReady(ready, () => {
  clearInterval(moving);
  return internet[Symbol.asyncDispose]();
});
