// The simulated internet in a process of its own, so that its work is not counted as ours; where its days are short, its companies move
// as they pass.
import { entries } from '@strata/catalog';
import { createInternet } from '@strata/testnet';
import type { BenchInternet, BenchInternetOptions } from './internet.ts';
import { shortDays } from './load/days.ts';
import { childArgument, reportReady, reportUse } from './measure.ts';

/** How often it checks whether a day has passed. */
const CHECK_EVERY_MS = 250;

const { days, hasTruths = false, ...options } = childArgument<BenchInternetOptions>();
const now = days ? shortDays(days) : () => new Date();
const internet = await createInternet({
  ...{ ...options, now },
  ...(hasTruths ? { catalog: entries } : {}),
  // A lost packet delays a scan by a second: network faults have their own benches.
  ...(days ? { vantage: { lossShare: 0 } } : {}),
});
const publishers = days ? await internet.advisories() : undefined;
const moving = setInterval(() => {
  const passed = days ? Math.floor((now().getTime() - days.from) / 86_400_000) - internet.day : 0;
  if (passed > 0) internet.advance(passed);
}, CHECK_EVERY_MS);
const portsOf = (port: number) =>
  Array.from({ length: 256 }, (_, octet) => internet.dial({ address: `198.51.100.${octet}`, port }).port);
const domains = internet.domains();
const ready: BenchInternet = {
  // Listing companies generates them, thousands of candidates included.
  feeds: options.feeds === 0 ? [] : internet.feeds(),
  ...{ domains, resolver: internet.resolver, caPem: internet.caPem, ports: { 80: portsOf(80), 443: portsOf(443) } },
  publishers: publishers?.settings ?? {},
  truths: hasTruths ? domains.map((domain) => internet.truth(domain)) : [],
};
reportUse();
reportReady(ready, () => {
  clearInterval(moving);
  return internet[Symbol.asyncDispose]();
});
