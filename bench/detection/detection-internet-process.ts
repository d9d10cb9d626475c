// The simulated internet in a process of its own, with what is really so of every company: probing has a core to itself.
import { entries } from '@strata/catalog';
import { createInternet, type InternetOptions } from '@strata/testnet';
import { childArgument, reportReady } from '../measure.ts';

const startedAt = performance.now();
const internet = await createInternet({ ...childArgument<InternetOptions>(), catalog: entries, feeds: 0 });
const startMs = performance.now() - startedAt;
const truths = internet.domains().map((domain) => internet.truth(domain));
/** Where the last octet of an address decides the listener. */
const portsOf = (port: number) =>
  Array.from({ length: 256 }, (_, octet) => internet.dial({ address: `198.51.100.${octet}`, port }).port);
reportReady(
  {
    startMs,
    rssBytes: process.memoryUsage().rss,
    truths,
    handWritten: internet.handWritten,
    resolver: internet.resolver,
    caPem: internet.caPem,
    ports: { 80: portsOf(80), 443: portsOf(443) },
  },
  () => internet[Symbol.asyncDispose](),
);
// Requested once more when all domains are probed.
process.on('message', () => process.send?.({ peakBytes: process.resourceUsage().maxRSS * 1_024 }));
